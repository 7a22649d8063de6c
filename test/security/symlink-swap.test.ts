import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { createWorkspaces } from '../../lib/adapters/sandbox/workspace.ts';
import { HandrailError } from '../../lib/core/errors.ts';
import { freshDirectory, random, readText, text } from '../support/workspace.ts';

/** Turns `dir` into a link to the outside and back, as fast as it can, until the test ends. */
const ATTACKER = `
  const { renameSync } = require('node:fs');
  const { workerData: { dir, kept, link, junk }, parentPort } = require('node:worker_threads');
  parentPort.postMessage('started');
  // A write may have made the directory anew in the moment it was away.
  const move = (from, to) => { for (;;) try { return renameSync(from, to); } catch { renameSync(to, junk + '/' + count++); } };
  let count = 0;
  for (;;) {
    renameSync(dir, kept); move(link, dir);
    renameSync(dir, link); move(kept, dir);
  }`;

test.skipIf(process.platform !== 'linux')('a directory that is swapped for a link during reads and writes leads nowhere', async () => {
  // Given a directory of the workspace that somebody keeps replacing by a link to the outside
  const root = await freshDirectory();
  const workspaces = await createWorkspaces({ root: join(root, 'files'), random, now: () => Date.now(), access: 'descriptor' });
  const workspace = await workspaces.open({ tenant: 'acme', sessionId: 's1' });
  const [session, outside] = [join(root, 'files/acme/s1'), join(root, 'outside')];
  await Promise.all([mkdir(outside), mkdir(join(root, 'junk'))]);
  await writeFile(join(outside, 'f.txt'), 'CANARY');
  await workspace.write('dir/f.txt', text('inside'), 'create');
  await symlink(outside, join(session, 'link'));
  const data = { dir: join(session, 'dir'), kept: join(session, 'kept'), link: join(session, 'link'), junk: join(root, 'junk') };
  const attacker = new Worker(ATTACKER, { eval: true, workerData: data });
  onTestFinished(async () => void (await attacker.terminate()));
  await new Promise((resolve) => attacker.once('message', resolve));

  // When it is read and written many times
  const seen = new Map<string, number>();
  const count = (outcome: string) => seen.set(outcome, (seen.get(outcome) ?? 0) + 1);
  for (let turn = 0; turn < 800; turn++) {
    await readText(workspace, 'dir/f.txt').then(count, (error) => count(codeOf(error)));
    if (turn % 5 === 0)
      await workspace.write('dir/new.txt', text('new'), 'overwrite').then(
        () => count('written'),
        (error) => count(codeOf(error)),
      );
  }
  await attacker.terminate();

  // Then every answer is the file inside, or a refusal, and nothing was made outside
  expect(seen.has('CANARY')).toBe(false);
  expect([...seen.keys()].filter((key) => !['inside', 'written', 'FILE_NOT_FOUND', 'PERMISSION_DENIED'].includes(key))).toEqual([]);
  expect(seen.get('PERMISSION_DENIED'), 'the attack was met').toBeGreaterThan(0);
  expect(await readdir(outside)).toEqual(['f.txt']);
});

function codeOf(error: unknown): string {
  return error instanceof HandrailError ? error.code : String(error);
}
