import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findAssets } from '../../lib/adapters/sandbox/assets.ts';
import { givenSandbox, PATIENCE_MS } from '../support/sandbox.ts';
import { freshDirectory } from '../support/workspace.ts';

/** Processes whose command line holds the text. */
async function processesWith(marker: string): Promise<string[]> {
  const commands = (await readdir('/proc'))
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''));
  return (await Promise.all(commands)).filter((command) => command.includes(marker));
}

test.skipIf(process.platform !== 'linux')('no process outlives its call, however the call ends', { timeout: PATIENCE_MS }, async () => {
  // Given children that can be told from all other processes
  const marker = await freshDirectory();
  const assets = findAssets();
  const { run, failure } = await givenSandbox({
    assets: { ...assets, readable: [...assets.readable, marker] },
    limits: { memoryBytes: 300 * 1024 * 1024 },
  });

  // When calls end in every way there is
  const seen = run('python', 'import time\ntime.sleep(2)');
  await expect.poll(() => processesWith(marker), { timeout: 30_000 }).not.toEqual([]);
  await seen;
  await failure('python', 'while True: pass', { timeoutMs: 1_000 });
  await failure('javascript', 'const x = []; for (;;) x.push(new Uint8Array(10_000_000).fill(1));');
  const abort = new AbortController();
  const aborted = failure('shell', 'sleep 100 & sleep 100', { signal: abort.signal });
  abort.abort();
  await aborted;

  // Then none of their processes is left
  expect(await processesWith(marker)).toEqual([]);
});

test.skipIf(process.platform !== 'linux')(
  'a child that hears nothing and never answers is killed at the deadline',
  { timeout: PATIENCE_MS },
  async () => {
    // Given a child whose code is hostile itself: it ignores what it can ignore
    const directory = await freshDirectory();
    const entry = join(directory, 'hostile.mjs');
    await writeFile(
      entry,
      "for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(name, () => {}); setInterval(() => {}, 1000); for (;;);",
    );
    const assets = findAssets();
    const hostile = { ...assets, entries: { ...assets.entries, shell: entry }, readable: [...assets.readable, directory] };
    const { failure } = await givenSandbox({ assets: hostile });
    // When its time is over, then it is gone
    expect(await failure('shell', 'anything', { timeoutMs: 1_000 })).toMatchObject({ code: 'TIMEOUT' });
    expect(await processesWith(entry)).toEqual([]);
  },
);
