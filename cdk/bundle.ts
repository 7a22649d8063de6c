import { readFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { build, type Metafile } from 'esbuild';
import { parse } from 'yaml';
import type { Config } from '../lib/core/config.ts';
import { HandrailError } from '../lib/core/errors.ts';
import { CONFIG_FILE, type FunctionSpec } from '../lib/manifest.ts';

/** A function's code, ready to be zipped. */
export interface Bundle {
  readonly directory: string;
  /** Size of the code, without assets. */
  readonly bytes: number;
  /** Source files in it, relative to the project: what a function ships can be tested. */
  readonly inputs: readonly string[];
}
export type Bundles = ReadonlyMap<string, Bundle>;

export interface BundleOptions {
  readonly root: string;
  /** Emptied first. */
  readonly outdir: string;
  readonly functions: readonly FunctionSpec[];
  readonly config: Config;
  /** Directory that the scripts of scripted models are relative to. */
  readonly configDirectory: string;
}

/** CommonJS packages in a module bundle still call `require` for Node's own modules. */
const REQUIRE_BANNER = "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);";

/**
 * Bundles every function in one esbuild run, so that shared modules are parsed once: the entry, minified with the SDK
 * inside, beside what it reads at run time.
 */
export async function bundleFunctions(options: BundleOptions): Promise<Bundles> {
  const { root, outdir, functions } = options;
  await rm(outdir, { recursive: true, force: true });
  const result = await build({
    absWorkingDir: root,
    entryPoints: functions.map((spec) => ({ in: spec.entry, out: `${spec.name}/index` })),
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    mainFields: ['module', 'main'],
    minify: true,
    legalComments: 'external',
    define: { 'process.env.NODE_ENV': '"production"' },
    banner: { js: REQUIRE_BANNER },
    metafile: true,
    logLevel: 'error',
  });
  const bundles = await Promise.all(functions.map((spec) => finish(spec, result.metafile, options)));
  return new Map(functions.map((spec, index) => [spec.name, at(bundles, index)]));
}

async function finish(spec: FunctionSpec, metafile: Metafile, options: BundleOptions): Promise<Bundle> {
  const directory = join(options.outdir, spec.name);
  const file = join(directory, 'index.mjs');
  const output = Object.entries(metafile.outputs).find(([path]) => resolve(options.root, path) === file)?.[1];
  if (output === undefined) throw new HandrailError('INTERNAL', `esbuild wrote no ${file}`);
  await mkdir(directory, { recursive: true });
  if (spec.config) await writeFile(join(directory, CONFIG_FILE), JSON.stringify(deployedConfig(options.config), undefined, 1));
  if (spec.model) await writeScripts(directory, options);
  return { directory, bytes: output.bytes, inputs: Object.keys(output.inputs).sort() };
}

/** Scripts of scripted models travel as JSON beside the code. */
function deployedConfig(config: Config): Config {
  const models = Object.entries(config.models).map(([name, model]) => [
    name,
    model.provider === 'scripted' ? { ...model, script: scriptFile(name) } : model,
  ]);
  return { ...config, models: Object.fromEntries(models) };
}

async function writeScripts(directory: string, options: BundleOptions): Promise<void> {
  for (const [name, model] of Object.entries(options.config.models)) {
    if (model.provider !== 'scripted') continue;
    const text = readFileSync(resolve(options.configDirectory, model.script), 'utf8');
    await writeFile(join(directory, scriptFile(name)), JSON.stringify(parse(text, { schema: 'core', maxAliasCount: 0 })));
  }
}

const scriptFile = (model: string): string => `script.${model}.json`;

function at<T>(items: readonly T[], index: number): T {
  const item = items[index];
  if (item === undefined) throw new HandrailError('INTERNAL', `no item ${index}`);
  return item;
}
