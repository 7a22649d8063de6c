import { link, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { HandrailError } from '../../lib/core/errors.ts';
import type { JsonObject } from '../../lib/core/json.ts';
import { fileHandlers } from '../../lib/tools/file/category.ts';
import { listDirectory } from '../../lib/tools/file/list-directory.ts';
import { readFile } from '../../lib/tools/file/read-file.ts';
import { toolContext } from '../support/tool-context.ts';
import { givenWorkspaces, text } from '../support/workspace.ts';

test('files of another session or tenant cannot be read, listed or changed, by path, link, or argument', async () => {
  // Given a file of another session, and links to it that somebody has planted
  const { workspaces, host } = await givenWorkspaces();
  const victim = await workspaces.open({ tenant: 'acme', sessionId: 'victim' });
  const secret = join(host, '../victim/secret.txt');
  await victim.write('secret.txt', text('CANARY'), 'create');
  await workspaces.open(toolContext());
  await Promise.all([symlink(secret, join(host, 'soft')), link(secret, join(host, 'hard')), symlink('../victim', join(host, 'dir'))]);

  // When every file tool is pointed at it
  const paths = ['../victim/secret.txt', 'dir/secret.txt', 'dir/../victim/secret.txt', 'soft', 'hard', '../../acme/victim/secret.txt'];
  const attempts: [string, JsonObject][] = [
    ...paths.map((path): [string, JsonObject] => ['read_file', { path }]),
    ...paths.map((path): [string, JsonObject] => ['write_file', { path, content: 'changed' }]),
    ...paths.map((path): [string, JsonObject] => ['write_file', { path, content: 'changed', mode: 'append' }]),
    ...['../victim', 'dir', '..', 'dir/.'].map((path): [string, JsonObject] => ['list_directory', { path }]),
    ['read_file', { path: 'secret.txt', sessionId: 'victim' }],
    ['read_file', { path: 'secret.txt', tenant: 'acme', session_id: 'victim' }],
  ];

  // Then each is refused, and the file is as it was
  for (const [tool, args] of attempts) {
    const outcome = await fileHandlers[tool]?.(args, toolContext(), { workspaces }).catch((error: unknown) => error);
    expect(outcome, `${tool} ${JSON.stringify(args)}`).toBeInstanceOf(HandrailError);
  }
  const batch = await readFile({ paths }, toolContext(), { workspaces });
  expect(JSON.stringify(batch)).not.toContain('CANARY');
  const listing = await listDirectory({ depth: 10 }, toolContext(), { workspaces });
  expect(JSON.stringify(listing)).not.toContain('secret.txt');
  // The planted hard link would make the victim's own read fail; what counts is the content.
  await workspaces.open(toolContext()).then((workspace) => workspace.remove('hard'));
  expect(Buffer.from(await victim.read('secret.txt')).toString()).toBe('CANARY');
});
