import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { findAssets, sandboxBuild, sandboxManifest } from '../../lib/adapters/sandbox/assets.ts';
import { createCodeRunner } from '../../lib/adapters/sandbox/code-runner.ts';
import { createWorkspaces } from '../../lib/adapters/sandbox/workspace.ts';
import type { CodeRequest } from '../../lib/core/ports/code-runner.ts';
import { systemClock, systemRandom } from '../../lib/runtime/system.ts';
import { median, round } from './bench-runtime.ts';

const ROUNDS = 9;
const SCRIPTS = {
  shell: 'echo hi > out.txt; cat out.txt',
  python: 'open("out.txt", "w").write("hi")\nprint(open("out.txt").read())',
  javascript: 'import fs from "fs"; fs.writeFileSync("out.txt", "hi"); console.log(fs.readFileSync("out.txt", "utf8"))',
} as const satisfies Record<CodeRequest['language'], string>;

export interface SandboxFigures {
  /** From the call to its result, ms; medians. Each call is cold: it starts a process of its own, and nothing stays for the next. */
  readonly shellColdMs: number;
  readonly pythonColdMs: number;
  readonly javascriptColdMs: number;
  /** The most resident memory that any of these children has held, MB. */
  readonly peakMb: number;
  /** The same for each language. */
  readonly peakMbBy: Readonly<Record<CodeRequest['language'], number>>;
}

/** A small script in each language that writes a file of the session and reads it again, from the bundle that a Lambda ships. */
export async function measureSandbox(): Promise<SandboxFigures> {
  const directory = await mkdtemp(join(tmpdir(), 'handrail-sandbox-'));
  try {
    const bundle = join(directory, 'bundle');
    await bundleInto(bundle);
    const root = join(directory, 'workspaces');
    const workspace = await (await createWorkspaces({ root, random: systemRandom, now: systemClock.now })).open({
      tenant: 'bench',
      sessionId: 's',
    });
    const peak = { shell: 0, python: 0, javascript: 0 };
    const time = async (language: CodeRequest['language']): Promise<number> => {
      const onChildEnd = ({ peakBytes }: { peakBytes: number }): void => {
        peak[language] = Math.max(peak[language], peakBytes);
      };
      const runner = createCodeRunner({ assets: findAssets(bundle), onChildEnd });
      const times: number[] = [];
      for (let index = 0; index < ROUNDS; index++) {
        const began = performance.now();
        const { stdout } = await runner.run({
          language,
          code: SCRIPTS[language],
          workspace,
          timeoutMs: 30_000,
          signal: new AbortController().signal,
        });
        times.push(performance.now() - began);
        if (stdout.trim() !== 'hi') throw new Error(`the ${language} script printed ${JSON.stringify(stdout)}`);
      }
      return round(median(times));
    };
    const [shellColdMs, pythonColdMs, javascriptColdMs] = [await time('shell'), await time('python'), await time('javascript')];
    const peakMbBy = { shell: megabytes(peak.shell), python: megabytes(peak.python), javascript: megabytes(peak.javascript) };
    return { shellColdMs, pythonColdMs, javascriptColdMs, peakMb: Math.max(...Object.values(peakMbBy)), peakMbBy };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

const megabytes = (bytes: number): number => Math.round(bytes / 1024 / 1024);

/** As the deployment bundles it. */
async function bundleInto(directory: string): Promise<void> {
  const { entryPoints, copies } = sandboxManifest();
  await build({ ...sandboxBuild, entryPoints: [...entryPoints], outdir: directory, logLevel: 'error' });
  for (const { from, to } of copies) {
    await mkdir(dirname(join(directory, to)), { recursive: true });
    await copyFile(from, join(directory, to));
  }
}
