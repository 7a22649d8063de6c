import { mkdir, readdir, stat, symlink, truncate, unlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createWorkspaces } from '../../../../lib/adapters/sandbox/workspace.ts';
import { FILE_BYTES, WORKSPACE } from '../../../../lib/core/limits.ts';
import { freshDirectory, random, readText, text } from '../../../support/workspace.ts';

const accesses = process.platform === 'linux' ? (['descriptor', 'verified'] as const) : (['verified'] as const);

describe.each(accesses)('a workspace with %s access', (access) => {
  async function given(now = () => Date.now()) {
    const root = await freshDirectory();
    const workspaces = await createWorkspaces({ root, random, now, access });
    const open = (tenant: string, sessionId: string) => workspaces.open({ tenant, sessionId });
    return { root, open, host: join(root, 'acme/s1'), workspace: await open('acme', 's1') };
  }

  test('creates, replaces and appends, making directories on the way', async () => {
    const { workspace } = await given();
    expect(await workspace.write('a/b/c.txt', text('one'), 'create')).toEqual({ bytes: 3, created: true });
    expect(await workspace.write('a/b/c.txt', text('two, '), 'overwrite')).toEqual({ bytes: 5, created: false });
    expect(await workspace.write('a/b/c.txt', text('three'), 'append')).toEqual({ bytes: 10, created: false });
    expect(await workspace.write('log.txt', text('first'), 'append')).toEqual({ bytes: 5, created: true });
    expect(await readText(workspace, 'a/b/c.txt')).toBe('two, three');
  });

  test('create refuses a file that exists and leaves it alone', async () => {
    const { workspace, host } = await given();
    await workspace.write('a.txt', text('old'), 'create');
    await expect(workspace.write('a.txt', text('new'), 'create')).rejects.toMatchObject({ code: 'INVALID_ARGUMENTS' });
    expect(await readText(workspace, 'a.txt')).toBe('old');
    expect(await readdir(host), 'no temporary file stays').toEqual(['a.txt']);
  });

  test('a reader sees the old file or the whole new one, never a part', async () => {
    const { workspace } = await given();
    const versions = ['a', 'b'].map((letter) => letter.repeat(300_000));
    await workspace.write('big.txt', text(versions[0] ?? ''), 'create');
    let writing = true;
    const writes = (async () => {
      for (let turn = 1; turn <= 20; turn++) await workspace.write('big.txt', text(versions[turn % 2] ?? ''), 'overwrite');
      writing = false;
    })();
    while (writing) expect(versions.includes(await readText(workspace, 'big.txt'))).toBe(true);
    await writes;
  });

  test('appends that come at the same time, through two openings, are all kept', async () => {
    const { workspace, open } = await given();
    const other = await open('acme', 's1');
    await Promise.all(Array.from({ length: 20 }, (_, index) => (index % 2 ? workspace : other).write('log', text(`${index};`), 'append')));
    expect(
      (await readText(workspace, 'log'))
        .split(';')
        .filter(Boolean)
        .map(Number)
        .sort((a, b) => a - b),
    ).toEqual([...Array(20).keys()]);
  });

  test('sessions and tenants do not see each other, and only their names can be opened', async () => {
    const { workspace, open } = await given();
    await workspace.write('mine.txt', text('x'), 'create');
    for (const other of [await open('acme', 's2'), await open('other', 's1')]) {
      await expect(other.read('mine.txt')).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' });
      await expect(other.read('../../acme/s1/mine.txt')).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
    }
    for (const [tenant, session] of [
      ['..', 's1'],
      ['acme', '.'],
      ['acme/s1', 'x'],
      ['', 's1'],
    ] as const) {
      await expect(open(tenant, session)).rejects.toMatchObject({ code: 'INVALID_ARGUMENTS' });
    }
  });

  test('a tenant or session directory that is a link is refused', async () => {
    const { root, open } = await given();
    await mkdir(join(root, 'elsewhere'));
    await symlink(join(root, 'elsewhere'), join(root, 'acme/linked'));
    await expect(open('acme', 'linked')).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
  });

  test('names are kept in NFC, whichever form is asked for', async () => {
    const { workspace } = await given();
    await workspace.write('cafe\u0301.txt', text('x'), 'create');
    expect(await readText(workspace, 'caf\u00e9.txt')).toBe('x');
    expect((await workspace.list('.', { depth: 1, limit: 10 })).map((entry) => entry.path)).toEqual(['caf\u00e9.txt']);
  });

  test('a step back leads to the directory before, and makes none', async () => {
    const { workspace } = await given();
    await workspace.write('a/b/f.txt', text('x'), 'create');
    expect(await workspace.write('a/b/../new/g.txt', text('y'), 'create')).toMatchObject({ created: true });
    expect(await readText(workspace, 'a/new/g.txt')).toBe('y');
    await expect(workspace.write('missing/../h.txt', text('z'), 'create')).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' });
    expect((await workspace.list('.', { depth: 1, limit: 10 })).map((entry) => entry.path)).toEqual(['a']);
  });

  test('lists breadth first up to the limit, sorted, with kinds and sizes, without following a link', async () => {
    const { workspace, host } = await given();
    await workspace.write('a/deep/x.txt', text('12345'), 'create');
    await workspace.write('b.txt', text('1'), 'create');
    await symlink('a', join(host, 'link'));
    const all = await workspace.list('.', { depth: 10, limit: 100 });
    expect(all.map((entry) => [entry.path, entry.kind, entry.bytes])).toEqual([
      ['a', 'directory', 0],
      ['a/deep', 'directory', 0],
      ['a/deep/x.txt', 'file', 5],
      ['b.txt', 'file', 1],
      ['link', 'other', 0],
    ]);
    expect((await workspace.list('', { depth: 10, limit: 4 })).map((entry) => entry.path)).toEqual(['a', 'a/deep', 'b.txt', 'link']);
    expect((await workspace.list('a', { depth: 1, limit: 9 })).map((entry) => entry.path)).toEqual(['a/deep']);
    expect(all.at(2)?.modifiedAt).toBe(Math.round((await stat(join(host, 'a/deep/x.txt'))).mtimeMs));
  });

  test('entries that no path can name are left out of a listing', async () => {
    const { workspace, host } = await given();
    await writeFile(join(host, 'ok.txt'), '');
    await writeFile(join(host, 'bell\u0007.txt'), '');
    await writeFile(Buffer.concat([Buffer.from(`${host}/`), Buffer.from([0x66, 0xe9])]), '');
    expect((await workspace.list('.', { depth: 1, limit: 10 })).map((entry) => entry.path)).toEqual(['ok.txt']);
  });

  test('removes a file, a directory with all in it, and a link but not what it leads to', async () => {
    const { workspace, host } = await given();
    await workspace.write('keep.txt', text('x'), 'create');
    await workspace.write('d/e/f.txt', text('x'), 'create');
    await symlink('../keep.txt', join(host, 'd/link'));
    await workspace.remove('d');
    expect(await readdir(host)).toEqual(['keep.txt']);
    await expect(workspace.remove('d')).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' });
    await expect(workspace.remove('.')).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
    await workspace.remove('keep.txt');
    expect(await readdir(host)).toEqual([]);
  });

  test('a file may be as large as the limit and no larger, whole or appended', async () => {
    const { workspace, host } = await given();
    await workspace.write('full', new Uint8Array(FILE_BYTES), 'create');
    expect((await workspace.read('full')).byteLength).toBe(FILE_BYTES);
    await expect(workspace.write('full', text('1'), 'append')).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
    await expect(workspace.write('more', new Uint8Array(FILE_BYTES + 1), 'create')).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
    await truncate(join(host, 'full'), FILE_BYTES + 1);
    await expect(workspace.read('full')).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
  });

  test('the quota of bytes holds, and what shrinks is still allowed', async () => {
    const { open, workspace: first, host } = await given();
    await first.write('small', text('123456'), 'create');
    await writeFile(join(host, 'huge'), '');
    await truncate(join(host, 'huge'), WORKSPACE.bytes);
    const workspace = await open('acme', 's1');
    await expect(workspace.write('new', text('1'), 'create')).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
    expect(await workspace.write('small', text('1'), 'overwrite')).toEqual({ bytes: 1, created: false });
    await workspace.remove('huge');
    expect(await workspace.write('new', text('1'), 'create')).toEqual({ bytes: 1, created: true });
  });

  test('the quota of entries counts directories, and is looked at anew before it refuses', async () => {
    const { workspace, host } = await given();
    await mkdir(join(host, 'many'));
    await Promise.all(Array.from({ length: WORKSPACE.files - 2 }, (_, index) => writeFile(join(host, 'many', `${index}`), '')));
    await workspace.write('last', text('x'), 'create');
    await expect(workspace.write('beyond', text('x'), 'create')).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
    await expect(workspace.write('dir/beyond', text('x'), 'create')).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
    expect((await readdir(host)).sort()).toEqual(['last', 'many']);
    expect(await workspace.write('last', text('xx'), 'overwrite')).toMatchObject({ created: false });
  });

  test('a temporary file that lost its writer is cleared away, a fresh one is not, and neither can be named', async () => {
    const { workspace, host } = await given(() => 100 * 60_000);
    for (const [name, minutes] of [
      ['.handrail-old', 80],
      ['.handrail-new', 90],
    ] as const) {
      await writeFile(join(host, name), 'x');
      await utimes(join(host, name), minutes * 60, minutes * 60);
    }
    expect(await workspace.list('.', { depth: 1, limit: 9 })).toEqual([]);
    await expect(workspace.read('.handrail-new')).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
    await workspace.write('a', text('x'), 'create');
    expect((await readdir(host)).sort()).toEqual(['.handrail-new', 'a']);
  });

  test('errors of the system name the workspace path only, in message and cause', async () => {
    const { workspace, root } = await given();
    await workspace.write('f.txt', text('x'), 'create');
    const attempts = [
      () => workspace.read('missing.txt'),
      () => workspace.read('f.txt/x'),
      () => workspace.read('.'),
      () => workspace.write('f.txt/x', text(''), 'create'),
      () => workspace.list('f.txt', { depth: 1, limit: 1 }),
    ];
    for (const attempt of attempts) {
      const error = await attempt().then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(error).toMatchObject({ name: 'HandrailError' });
      const { message = '', cause } = error instanceof Error ? error : {};
      const shown = `${message} ${cause instanceof Error ? cause.stack : ''}`;
      expect(shown).not.toContain(root);
      expect(shown).not.toContain('/proc/');
    }
  });
});

test('what a link leads the root to is fixed when the workspaces are made', async () => {
  const top = await freshDirectory();
  await Promise.all([mkdir(join(top, 'first')), mkdir(join(top, 'second'))]);
  await symlink('first', join(top, 'root'));
  const workspaces = await createWorkspaces({ root: join(top, 'root'), random, now: () => 0 });
  await unlink(join(top, 'root'));
  await symlink('second', join(top, 'root'));
  await (await workspaces.open({ tenant: 'acme', sessionId: 's1' })).write('f', text('x'), 'create');
  expect(await readdir(join(top, 'second'))).toEqual([]);
  expect(await readdir(join(top, 'first/acme/s1'))).toEqual(['f']);
});
