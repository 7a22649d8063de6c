import { readdir, readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { givenSandbox, PATIENCE_MS, pathsOf, type Sandbox } from '../support/sandbox.ts';

/** Archives whose members want to land elsewhere, made by Python's own writers, which do not mind. */
const MAKE = `
import io, tarfile, zipfile
names = ["../escaped", "../../escaped", "/tmp/../../escaped", "/etc/escaped", "dir/../../escaped", "..\\\\escaped", "fine/inside"]
with tarfile.open("evil.tar", "w") as archive:
    for name in names:
        member = tarfile.TarInfo(name); member.size = 1; archive.addfile(member, io.BytesIO(b"x"))
    for kind, name, target in [(tarfile.SYMTYPE, "soft", "../../.."), (tarfile.LNKTYPE, "hard", "/etc/passwd")]:
        member = tarfile.TarInfo(name); member.type = kind; member.linkname = target; archive.addfile(member)
    member = tarfile.TarInfo("soft/through"); member.size = 1; archive.addfile(member, io.BytesIO(b"x"))
with zipfile.ZipFile("evil.zip", "w") as archive:
    for name in names: archive.writestr(name, "x")
`;

async function givenArchives(): Promise<Sandbox> {
  const sandbox = await givenSandbox();
  expect(await sandbox.run('python', MAKE)).toMatchObject({ exitCode: 0, files: ['evil.tar', 'evil.zip'] });
  return sandbox;
}

/** All that lies in the directory of workspaces, outside this one. */
const outside = async (host: string): Promise<string[]> => (await readdir(`${host}/..`)).filter((name) => name !== 's1');

test.each([
  [
    'python tarfile, trusting',
    'python',
    'import tarfile\nfor member in tarfile.open("evil.tar"):\n    try: tarfile.open("evil.tar").extract(member, filter="fully_trusted")\n    except Exception as error: print(type(error).__name__)',
  ],
  [
    'python tarfile',
    'python',
    'import tarfile\nfor member in tarfile.open("evil.tar"):\n    try: tarfile.open("evil.tar").extract(member, filter="data")\n    except Exception as error: print(type(error).__name__)',
  ],
  ['python zipfile', 'python', 'import zipfile\nzipfile.ZipFile("evil.zip").extractall()'],
  ['python shutil', 'python', 'import shutil\ntry: shutil.unpack_archive("evil.zip", ".")\nexcept Exception as error: print(error)'],
  [
    'python by hand',
    'python',
    'import zipfile\nfor name in zipfile.ZipFile("evil.zip").namelist():\n    try: open(name, "w").write("x")\n    except OSError as error: print(error)',
  ],
  ['tar', 'shell', 'tar xf evil.tar; tar xPf evil.tar; tar xf evil.tar -C ..; tar xf evil.tar -C /; true'],
] as const)('%s lets nothing out of the workspace', { timeout: PATIENCE_MS }, async (how, language, code) => {
  const { host, workspace, run } = await givenArchives();
  const result = await run(language, code);
  if (how !== 'python by hand') expect(await pathsOf(workspace)).toContain('fine/inside');
  expect(await outside(host)).toEqual([]);
  expect(result.files.filter((path) => path.includes('..') || path.startsWith('/'))).toEqual([]);
  for (const path of await pathsOf(workspace)) expect(path).not.toMatch(/(^|\/)\.\.(\/|$)/);
  // No link either: what was extracted through one is a file of the workspace, or nowhere.
  const kinds = await workspace.list('.', { depth: 10, limit: 100 });
  expect(kinds.filter(({ kind }) => kind === 'other')).toEqual([]);
  expect(await readFile('/etc/passwd', 'utf8')).toContain('root:');
});
