import { copyFile, mkdir, readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { findAssets, sandboxBuild, sandboxManifest } from '../../../../lib/adapters/sandbox/assets.ts';
import { givenSandbox, PATIENCE_MS } from '../../../support/sandbox.ts';
import { freshDirectory, text } from '../../../support/workspace.ts';

const MB = 1024 * 1024;

/** What CDK does for a function that runs code. */
async function bundleInto(directory: string): Promise<void> {
  const { entryPoints, copies } = sandboxManifest();
  await build({ ...sandboxBuild, entryPoints: [...entryPoints], outdir: directory, logLevel: 'error' });
  for (const { from, to } of copies) {
    await mkdir(dirname(join(directory, to)), { recursive: true });
    await copyFile(from, join(directory, to));
  }
}

async function bytesIn(directory: string): Promise<number> {
  const files = (await readdir(directory, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  return (await Promise.all(files.map((file) => stat(join(file.parentPath, file.name))))).reduce((sum, { size }) => sum + size, 0);
}

test('a bundle runs every language from itself alone, and is small enough for a Lambda', { timeout: PATIENCE_MS }, async () => {
  // Given a bundle in a directory of its own, without node_modules
  const directory = await freshDirectory();
  await bundleInto(directory);
  expect(await bytesIn(directory)).toBeLessThan(15 * MB);

  // When a runner takes its children from there
  const assets = findAssets(directory);
  expect(assets.readable.every((path) => path.startsWith(directory))).toBe(true);
  const { workspace, run } = await givenSandbox({ assets });
  await workspace.write('in.json', text('{"a":[3,1,2]}'), 'create');

  // Then scripts run, with all that is loaded on demand
  const shell = await run(
    'shell',
    'jq -c ".a|sort" in.json; echo hi | gzip | gunzip; seq 3 | xargs -n 1 echo n; tar cf /tmp/t.tar in.json; tar tf /tmp/t.tar; python3 -c "print(6*7)"',
  );
  expect(shell).toMatchObject({ stdout: '[1,2,3]\nhi\nn 1\nn 2\nn 3\nin.json\n42\n', stderr: '', exitCode: 0 });
  const python = await run('python', 'import json\nopen("out.json", "w").write(json.dumps(sorted(json.load(open("in.json"))["a"])))');
  expect(python).toEqual({ stdout: '', stderr: '', exitCode: 0, files: ['out.json'] });
  expect(await run('javascript', 'console.log(require("fs").readFileSync("out.json", "utf8"))')).toMatchObject({
    stdout: '[1, 2, 3]\n',
    exitCode: 0,
  });
});

test('a bundle without the sandbox says so, and does not look elsewhere', async () => {
  const directory = await freshDirectory();
  expect(() => findAssets(directory)).toThrow('not part of this bundle');
});
