import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { bundleFunctions } from '../../cdk/bundle.ts';
import { functionSpecs } from '../../cdk/deploy.ts';
import { configSchema } from '../../lib/core/config.ts';
import { median, round } from './bench-runtime.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const IMPORTS = 3;

export interface BundleFigures {
  readonly bundles: Record<string, number>;
  readonly coldImportMs: Record<string, number>;
}

/** Bytes that each function ships, and how long a fresh process takes to import it. */
export async function measureBundles(): Promise<BundleFigures> {
  const outdir = await mkdtemp(join(tmpdir(), 'handrail-bundles-'));
  try {
    const built = await bundleFunctions({
      root: ROOT,
      outdir,
      functions: functionSpecs(),
      config: configSchema.parse({}),
      configDirectory: ROOT,
    });
    const bundles: Record<string, number> = {};
    const coldImportMs: Record<string, number> = {};
    for (const [name, { bytes, directory }] of built) {
      bundles[name] = bytes;
      const times: number[] = [];
      for (let time = 0; time < IMPORTS; time++) times.push(await importMs(join(directory, 'index.mjs')));
      coldImportMs[name] = round(median(times));
    }
    return { bundles, coldImportMs };
  } finally {
    await rm(outdir, { recursive: true, force: true });
  }
}

async function importMs(path: string): Promise<number> {
  const code = `const began = performance.now(); await import(${JSON.stringify(path)}); console.log(performance.now() - began)`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', code]);
  return Number(stdout);
}
