import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { listDirectory } from '../../../../lib/tools/file/list-directory.ts';
import { toolContext } from '../../../support/tool-context.ts';
import { givenWorkspaces, text } from '../../../support/workspace.ts';

async function given(files: readonly string[]) {
  const { workspaces, host } = await givenWorkspaces();
  const workspace = await workspaces.open(toolContext());
  for (const path of files) await workspace.write(path, text(path), 'create');
  return { host, list: (args: Parameters<typeof listDirectory>[0]) => listDirectory(args, toolContext(), { workspaces }) };
}

test('lists a directory by itself, with sizes', async () => {
  const { list, host } = await given(['a/deep/x.md', 'b.txt']);
  await symlink('b.txt', join(host, 'link'));
  expect(await list({})).toEqual({ text: 'a/\nb.txt (5 bytes)\nlink (not a regular file: cannot be read)' });
  expect(await list({ path: 'a', depth: 2, sizes: false })).toEqual({ text: 'a/deep/\na/deep/x.md' });
});

test('a glob looks at all depths unless told otherwise', async () => {
  const { list } = await given(['a/deep/x.md', 'a/y.md', 'z.md', 'z.txt']);
  expect(await list({ glob: '*.md', sizes: false })).toEqual({ text: 'a/deep/x.md\na/y.md\nz.md' });
  expect(await list({ glob: 'a/*', sizes: false })).toEqual({ text: 'a/deep/\na/y.md' });
  expect(await list({ glob: '*.md', depth: 1, sizes: false })).toEqual({ text: 'z.md' });
  expect(await list({ glob: '*.pdf' })).toEqual({ text: '(nothing matches among 6 entries)' });
});

test('says when there is nothing, and when there is more', async () => {
  const { list, host } = await given([]);
  expect(await list({})).toEqual({ text: '(empty)' });
  await mkdir(join(host, 'many'));
  await Promise.all(Array.from({ length: 1_003 }, (_, index) => writeFile(join(host, 'many', `f${String(index).padStart(4, '0')}`), '')));
  const output = await list({ path: 'many', sizes: false });
  const lines = 'text' in output ? output.text.split('\n') : [];
  expect(lines.slice(999)).toEqual(['many/f0999', '(3 more; list a directory below, or use a glob)']);
});

test('a directory that is missing, or a file, is an error that says so', async () => {
  const { list } = await given(['f.txt']);
  await expect(list({ path: 'nowhere' })).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' });
  await expect(list({ path: 'f.txt' })).rejects.toThrow('not a directory');
});
