import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { givenSandbox, PATIENCE_MS, pathsOf } from '../support/sandbox.ts';

test('a link in the workspace does not lead what a script writes outside', { timeout: PATIENCE_MS }, async () => {
  // Given links that somebody planted: to a file, to a directory, and in the place of a directory
  const { host, run } = await givenSandbox();
  await mkdir(`${host}/../victim`);
  await writeFile(`${host}/../victim/secret.txt`, 'ORIGINAL');
  await symlink('../victim/secret.txt', `${host}/file`);
  await symlink('../victim', `${host}/directory`);

  // When a script, which does not see them, writes at those very paths, removes them, and others beside
  const code =
    'import os\nopen("file", "w").write("PWNED")\nos.makedirs("directory")\nfor name in ["secret.txt", "new.txt"]: open(f"directory/{name}", "w").write("PWNED")\nopen("ok", "w").write("ok")';
  const python = await run('python', code);
  const shell = await run('shell', 'echo PWNED > file; mkdir directory; echo PWNED > directory/secret.txt; rm -rf directory file');

  // Then nothing outside has changed, and the script is told what was not kept
  expect(await readFile(`${host}/../victim/secret.txt`, 'utf8')).toBe('ORIGINAL');
  expect(await readdir(`${host}/../victim`)).toEqual(['secret.txt']);
  expect(python.stderr).toContain('[sandbox] not kept');
  expect(python.files).toEqual(['ok']);
  expect(shell.exitCode).toBe(0);
});

test('links that a script makes, or unpacks, do not reach the workspace', { timeout: PATIENCE_MS }, async () => {
  const { workspace, host, run } = await givenSandbox();
  const python = await run(
    'python',
    [
      'import io, os, tarfile',
      'os.symlink("/etc/passwd", "link"); os.symlink("../victim", "dir"); os.symlink("plain", "inside")',
      'open("plain", "w").write("x")',
      'archive = tarfile.open("evil.tar", "w")',
      'for name, target in [("a", "/etc/passwd"), ("b", "../../victim")]:',
      '    member = tarfile.TarInfo(name); member.type = tarfile.SYMTYPE; member.linkname = target; archive.addfile(member)',
      'member = tarfile.TarInfo("../escaped"); member.size = 1; archive.addfile(member, io.BytesIO(b"x"))',
      'archive.close()',
      'tarfile.open("evil.tar").extractall(filter="fully_trusted")',
    ].join('\n'),
  );
  expect(python).toMatchObject({ exitCode: 0, files: ['evil.tar', 'plain'] });
  expect(python.stderr).toContain('link: links are not kept');
  const shell = await run('shell', 'tar xf evil.tar; ls; true');
  expect(shell.exitCode).toBe(0);
  const entries = await readdir(host, { withFileTypes: true });
  expect(entries.filter((entry) => entry.isSymbolicLink())).toEqual([]);
  expect(await pathsOf(workspace)).toEqual(expect.arrayContaining(['evil.tar', 'plain']));
  expect(await readdir(`${host}/..`)).toEqual(['s1']);
});

test('a path that climbs out is not kept, whatever the child answers', { timeout: PATIENCE_MS }, async () => {
  const { host, run } = await givenSandbox();
  const result = await run('shell', 'echo x > ../climbed; echo y > /climbed; echo z > /workspace/../tmp/climbed; echo "ok" > in.txt');
  expect(result.files).toEqual(['in.txt']);
  expect(await readdir(`${host}/..`)).toEqual(['s1']);
});
