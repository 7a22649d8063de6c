import { symlink } from 'node:fs/promises';
import { expect, test } from 'vitest';
import type { TreeChanges } from '../../../../lib/adapters/sandbox/child-tree.ts';
import { applyChanges, takeSnapshot } from '../../../../lib/adapters/sandbox/snapshot.ts';
import { HandrailError } from '../../../../lib/core/errors.ts';
import type { Workspace } from '../../../../lib/core/ports/workspace.ts';
import { pathsOf } from '../../../support/sandbox.ts';
import { toolContext } from '../../../support/tool-context.ts';
import { givenWorkspaces, readText, text } from '../../../support/workspace.ts';

const changes = (over: Partial<TreeChanges>): TreeChanges => ({ files: new Map(), directories: [], removed: [], skipped: [], ...over });

async function givenWorkspace(files: Record<string, string>): Promise<{ workspace: Workspace; host: string }> {
  const { workspaces, host } = await givenWorkspaces();
  const workspace = await workspaces.open(toolContext());
  for (const [path, content] of Object.entries(files)) await workspace.write(path, text(content), 'create');
  return { workspace, host };
}

test('a snapshot holds files and directories, and no link', async () => {
  const { workspace, host } = await givenWorkspace({ 'a/b.txt': 'b', 'c.txt': '' });
  await symlink('c.txt', `${host}/link`);
  const tree = await takeSnapshot(workspace);
  expect([...tree].map(([path, file]) => [path, file && Buffer.from(file.data).toString()]).sort()).toEqual([
    ['a', undefined],
    ['a/b.txt', 'b'],
    ['c.txt', ''],
  ]);
});

test('a file that goes between listing and reading is left out; one that is too large is an error', async () => {
  const entry = { kind: 'file' as const, bytes: 1, modifiedAt: 0 };
  const workspace = (code: 'FILE_NOT_FOUND' | 'RESOURCE_EXHAUSTED'): Workspace => ({
    list: async () => [
      { ...entry, path: 'here' },
      { ...entry, path: 'gone' },
    ],
    read: async (path) => {
      if (path === 'gone') throw new HandrailError(code, 'no');
      return text('x');
    },
    write: async () => ({ bytes: 0, created: true }),
    remove: async () => {},
  });
  expect([...(await takeSnapshot(workspace('FILE_NOT_FOUND'))).keys()]).toEqual(['here']);
  await expect(takeSnapshot(workspace('RESOURCE_EXHAUSTED'))).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
});

test('a file can take the place of a directory, and a directory that of a file', async () => {
  const { workspace } = await givenWorkspace({ 'was-directory/x': '1', 'was-file': '2' });
  const before = await takeSnapshot(workspace);
  await applyChanges(
    workspace,
    before,
    changes({
      removed: ['was-directory/x', 'was-directory', 'was-file'],
      directories: ['was-file'],
      files: new Map([
        ['was-directory', text('now a file')],
        ['was-file/y', text('below')],
      ]),
    }),
  );
  expect(await pathsOf(workspace)).toEqual(['was-directory', 'was-file/', 'was-file/y']);
  expect(await readText(workspace, 'was-directory')).toBe('now a file');
});

test('what has gone already need not be removed', async () => {
  const { workspace } = await givenWorkspace({ 'a.txt': 'a' });
  const before = await takeSnapshot(workspace);
  await workspace.remove('a.txt');
  expect(await applyChanges(workspace, before, changes({ removed: ['a.txt'] }))).toEqual({ files: ['a.txt'], problems: [] });
});

test('paths that lead outside are refused one by one, and the rest is kept', async () => {
  const { workspace } = await givenWorkspace({});
  const files = new Map(['../up', '/etc/x', 'a/../../up', '.handrail-x', 'fine', 'a\u0000b'].map((path) => [path, text('x')]));
  const applied = await applyChanges(workspace, new Map(), changes({ files, removed: ['..', '../victim', '.'] }));
  expect(applied.files).toEqual(['fine']);
  // Seven: what lies in a removed directory goes with it.
  expect(applied.problems).toHaveLength(7);
  expect(await pathsOf(workspace)).toEqual(['fine']);
});

test('changes that would not fit are refused as a whole, before anything is changed', async () => {
  const { workspace } = await givenWorkspace({ 'keep.txt': 'k' });
  const before = await takeSnapshot(workspace);
  const large = new Uint8Array(10 * 1024 * 1024);
  const tooMuch = new Map(Array.from({ length: 11 }, (_, index) => [`f${index}`, large]));
  const tooMany = new Map(Array.from({ length: 2_001 }, (_, index) => [`f${index}`, text('')]));
  const tooLarge = new Map([['f', new Uint8Array(10 * 1024 * 1024 + 1)]]);
  for (const files of [tooMuch, tooMany, tooLarge]) {
    await expect(applyChanges(workspace, before, changes({ files, removed: ['keep.txt'] }))).rejects.toMatchObject({
      code: 'RESOURCE_EXHAUSTED',
    });
  }
  expect(await pathsOf(workspace)).toEqual(['keep.txt']);
});
