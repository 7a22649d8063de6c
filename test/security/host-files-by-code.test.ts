import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { givenSandbox, PATIENCE_MS } from '../support/sandbox.ts';
import { text } from '../support/workspace.ts';

test('no language reads, lists or changes a file of the machine', { timeout: PATIENCE_MS }, async () => {
  const canary = (await readFile('/etc/passwd', 'utf8')).split('\n')[0] ?? '';
  expect(canary).not.toBe('');
  const { run } = await givenSandbox();
  const here = import.meta.filename;

  const shell = await run(
    'shell',
    `cat /etc/passwd ../../../etc/passwd ${here}; ls /etc /home ${import.meta.dirname}; echo x > /etc/handrail-test; find / -name passwd; cat < /dev/tcp/127.0.0.1/22; echo end`,
  );
  const python = await run(
    'python',
    [
      'import os, glob',
      `for path in ["/etc/passwd", "../../../etc/passwd", ${JSON.stringify(here)}, "/proc/self/root/etc/passwd", "/dev/sda"]:`,
      '    try: print(path, open(path).read()[:200])',
      '    except OSError as error: print(error)',
      'print(os.listdir("/"), glob.glob("/etc/*"))',
      'os.makedirs("/etc", exist_ok=True); open("/etc/handrail-test", "w").write("x")',
      'print("end")',
    ].join('\n'),
  );
  const javascript = await run(
    'javascript',
    [
      'import fs from "node:fs";',
      `for (const path of ["/etc/passwd", "../../../etc/passwd", ${JSON.stringify(here)}]) try { console.log(fs.readFileSync(path, "utf8")) } catch (error) { console.log(error.message) }`,
      'console.log(fs.readdirSync("/"));',
      'await import("/etc/passwd").catch((error) => console.log(error.message));',
      'console.log("end");',
    ].join('\n'),
  );

  for (const { stdout, stderr, files } of [shell, python, javascript]) {
    expect(stdout).toContain('end\n');
    expect(stdout + stderr).not.toContain(canary);
    expect(stdout).not.toContain('no language reads');
    expect(files).toEqual([]);
  }
  await expect(readFile('/etc/handrail-test')).rejects.toThrow('ENOENT');
});

test("a link planted in the workspace is not read into the sandbox, nor another session's file", { timeout: PATIENCE_MS }, async () => {
  const { workspace, host, run } = await givenSandbox();
  const { link, symlink, mkdir, writeFile } = await import('node:fs/promises');
  // Given another session with a secret, and links to it and to the machine in this one
  await mkdir(`${host}/../victim`);
  await writeFile(`${host}/../victim/secret.txt`, 'CANARY');
  await workspace.write('mine.txt', text('mine'), 'create');
  await symlink('/etc/passwd', `${host}/passwd`);
  await symlink('../victim', `${host}/victim`);
  await symlink('../victim/secret.txt', `${host}/soft`);
  await link(`${host}/../victim/secret.txt`, `${host}/hard`);

  // When scripts go through every file they see
  const shell = await run('shell', 'ls -la; find . ; cat * ../victim/* /workspace/../victim/secret.txt; echo end');
  const python = await run(
    'python',
    'import os\nfor at, _, names in os.walk("/workspace/.."):\n  for name in names:\n    try: print(name, open(os.path.join(at, name), "rb").read(50))\n    except OSError as error: print(error)\nprint("end")',
  );

  // Then only the session's own file is among them
  for (const { stdout, stderr } of [shell, python]) {
    expect(stdout).toContain('end\n');
    expect(stdout).toContain('mine');
    expect(stdout + stderr).not.toMatch(/CANARY|root:/);
  }
});
