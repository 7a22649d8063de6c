import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findAssets } from '../../../../lib/adapters/sandbox/assets.ts';
import { runChild } from '../../../../lib/adapters/sandbox/child-process.ts';
import { type ChildRequest, encodeMessage } from '../../../../lib/adapters/sandbox/child-protocol.ts';
import { RUNNER_LIMITS } from '../../../../lib/adapters/sandbox/runner-limits.ts';
import { PATIENCE_MS } from '../../../support/sandbox.ts';
import { freshDirectory } from '../../../support/workspace.ts';

const assets = findAssets();

describe('a child', () => {
  it('is ended once it has replied, with all it printed before', { timeout: PATIENCE_MS }, async () => {
    const directory = await freshDirectory();
    const entry = join(directory, 'late.mjs');
    await writeFile(
      entry,
      "import fs from 'node:fs'; fs.writeSync(1, 'p'.repeat(60_000)); fs.writeSync(3, 'reply'); fs.closeSync(3); for (;;);",
    );
    const outcome = await runChild({
      assets: { ...assets, readable: [...assets.readable, directory] },
      entry,
      message: [],
      limits: RUNNER_LIMITS,
      timeoutMs: PATIENCE_MS / 2,
      signal: new AbortController().signal,
    });
    expect(outcome).toMatchObject({ killed: undefined, exitSignal: 'SIGKILL' });
    expect(outcome.reply.toString()).toBe('reply');
    expect(outcome.stdout.text()).toBe('p'.repeat(60_000));
  });

  it.each(['shell', 'python', 'javascript'] as const)(
    'does not load the web client of Node for %s',
    { timeout: PATIENCE_MS },
    async (language) => {
      const directory = await freshDirectory();
      const probe = join(directory, 'probe.mjs');
      await writeFile(probe, "import fs from 'node:fs'; process.on('exit', () => fs.writeSync(2, process.moduleLoadList.join()));");
      const request: ChildRequest = {
        code: '',
        stdin: '',
        timeoutMs: PATIENCE_MS,
        fileSystemBytes: 1_000_000,
        outputBytes: 1_000_000,
        vendor: assets.vendor[language],
        directories: [],
        files: [],
      };
      const { output } = spawnSync(
        process.execPath,
        ['--no-warnings', `--import=${assets.guard}`, `--import=${probe}`, assets.entries[language]],
        {
          input: Buffer.concat(encodeMessage(request, [])),
          stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
        },
      );
      expect(String(output[3])).toContain('"exitCode":0');
      expect(String(output[2])).toContain('NativeModule net');
      expect(String(output[2])).not.toContain('undici');
    },
  );
});
