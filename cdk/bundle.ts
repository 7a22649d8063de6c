import { copyFile, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { type BuildFailure, type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';
import { readScript } from '../lib/adapters/models/scripted.ts';
import { sandboxBuild, sandboxManifest } from '../lib/adapters/sandbox/assets.ts';
import { type LoadedSkills, noLoadedSkills } from '../lib/adapters/skills/load.ts';
import type { Config } from '../lib/core/config.ts';
import { HandrailError } from '../lib/core/errors.ts';
import { customCheckers } from '../lib/core/guard/custom-checkers.ts';
import { CONFIG_FILE, type FunctionSpec, SKILLS_FILE } from '../lib/manifest.ts';
import { loadCheckerModules } from '../lib/runtime/checkers.ts';
import { atField, type Place } from '../lib/runtime/config.ts';
import { readNamedFile } from '../lib/runtime/named-file.ts';

/** A function's code, ready to be zipped. */
interface Bundle {
  readonly directory: string;
  /** Size of all that is deployed, before compression; licence texts are not counted. */
  readonly bytes: number;
  /** Source files that are in it, relative to the project: what a function ships can be tested. */
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
  /** Where a field of the configuration stands. @default the field alone */
  readonly place?: Place | undefined;
  /** @default none */
  readonly skills?: LoadedSkills;
}

/** CommonJS packages in a module bundle still call `require` for Node's own modules. */
const REQUIRE_BANNER = "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);";

/**
 * Bundles every function in one esbuild run, so that shared modules are parsed once: the entry, minified with the SDK
 * inside, beside what it reads at run time.
 */
export async function bundleFunctions(options: BundleOptions): Promise<Bundles> {
  const { root, outdir, functions, config, configDirectory } = options;
  const scripts = readScripts(options);
  const checkers = config.constraints.guard?.checkers ?? [];
  // A checker that could not start a function stops the deployment instead.
  customCheckers(await loadCheckerModules(checkers, configDirectory));
  await rm(outdir, { recursive: true, force: true });
  const result = await buildOrSay({
    absWorkingDir: root,
    entryPoints: functions.map((spec) => ({ in: spec.skill ? skillEntry(spec.name) : spec.entry, out: `${spec.name}/index` })),
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
    logLevel: 'silent',
    alias: { '@aws-sdk/credential-provider-node': join(root, 'lib/runtime/lambda-credentials.ts') },
    plugins: [checkerModulesPlugin(checkers, configDirectory), skillEntriesPlugin(options)],
  });
  const bundles = await Promise.all(functions.map((spec) => finish(spec, result.metafile, options, scripts)));
  return new Map(functions.map((spec, index) => [spec.name, at(bundles, index)]));
}

/** esbuild's complaints are about code that the configuration names, a skill's or a checker's: what and where, without a stack. */
async function buildOrSay(options: BuildOptions & { readonly metafile: true }): Promise<{ readonly metafile: Metafile }> {
  try {
    return await build(options);
  } catch (error) {
    if (!isBuildFailure(error)) throw error;
    const lines = error.errors.map(({ text, location }) => (location ? `${location.file}:${location.line}: ${text}` : text));
    throw new HandrailError('BAD_REQUEST', lines.join('\n'), { cause: error });
  }
}

const isBuildFailure = (error: unknown): error is BuildFailure =>
  error instanceof Error && 'errors' in error && Array.isArray(error.errors);

/** Puts the checkers that the configuration names in the place of `lib/runtime/checker-modules.ts`. */
function checkerModulesPlugin(paths: readonly string[], configDirectory: string): Plugin {
  const imports = paths.map((path, index) => `import * as module${index} from ${JSON.stringify(resolve(configDirectory, path))};`);
  const entries = paths.map((path, index) => `{ path: ${JSON.stringify(path)}, module: module${index} }`);
  const contents = `${imports.join('\n')}\nexport const checkerModules = [${entries.join(', ')}];\n`;
  return {
    name: 'checker-modules',
    setup: (context) =>
      context.onLoad({ filter: /[\\/]lib[\\/]runtime[\\/]checker-modules\.ts$/ }, () => ({
        contents,
        loader: 'ts',
        resolveDir: configDirectory,
      })),
  };
}

const SKILL_ENTRY = 'handrail-skill:';
const skillEntry = (name: string): string => `${SKILL_ENTRY}${name}`;

/** The entry of a handler skill's function: the skill's own module under the function that all of them share. */
function skillEntriesPlugin({ root, functions, skills = noLoadedSkills }: BundleOptions): Plugin {
  const contentsOf = (name: string): string => {
    const spec = functions.find((one) => one.name === name);
    const folder = spec?.skill && skills.folders.get(spec.skill.name);
    if (!spec?.skill || folder === undefined) throw new HandrailError('INTERNAL', `there is no skill behind the function ${name}`);
    const [shared, own] = [resolve(root, spec.entry), join(folder, spec.skill.handler)].map((path) => JSON.stringify(path));
    return [
      `import { skillLambda } from ${shared};`,
      `import * as module from ${own};`,
      `export const handler = skillLambda(${JSON.stringify(spec.skill.tool)}, module);`,
    ].join('\n');
  };
  return {
    name: 'skill-entries',
    setup: (context) => {
      context.onResolve({ filter: /^handrail-skill:/ }, ({ path }) => ({
        path: path.slice(SKILL_ENTRY.length),
        namespace: 'handrail-skill',
      }));
      context.onLoad({ filter: /.*/, namespace: 'handrail-skill' }, ({ path }) => ({
        contents: contentsOf(path),
        loader: 'ts',
        resolveDir: root,
      }));
    },
  };
}

async function finish(spec: FunctionSpec, metafile: Metafile, options: BundleOptions, scripts: Scripts): Promise<Bundle> {
  const directory = join(options.outdir, spec.name);
  const file = join(directory, 'index.mjs');
  const output = Object.entries(metafile.outputs).find(([path]) => resolve(options.root, path) === file)?.[1];
  if (output === undefined) throw new HandrailError('INTERNAL', `esbuild wrote no ${file}`);
  if (spec.config) await writeFile(join(directory, CONFIG_FILE), JSON.stringify(deployedConfig(options.config), undefined, 1));
  if (spec.config) await writeFile(join(directory, SKILLS_FILE), JSON.stringify((options.skills ?? noLoadedSkills).catalogue));
  if (spec.model) await writeScripts(directory, scripts);
  const sandbox = spec.sandbox ? await addSandbox(directory, options.root) : [];
  return { directory, bytes: await sizeOf(directory), inputs: [...new Set([...shipped(output), ...sandbox])].sort() };
}

/** What runs untrusted code is started as a process of its own, so it is bundled apart from the function. */
async function addSandbox(directory: string, root: string): Promise<string[]> {
  const { entryPoints, copies } = sandboxManifest();
  const options = { ...sandboxBuild, external: [...sandboxBuild.external], entryPoints: [...entryPoints] };
  const result = await build({
    ...options,
    absWorkingDir: root,
    outdir: directory,
    legalComments: 'external',
    metafile: true,
    logLevel: 'error',
  });
  for (const { from, to } of copies) {
    await mkdir(dirname(join(directory, to)), { recursive: true });
    await copyFile(from, join(directory, to));
  }
  return Object.values(result.metafile.outputs).flatMap(shipped);
}

/** Inputs of which something is left after tree shaking. */
function shipped(output: Metafile['outputs'][string]): string[] {
  return Object.entries(output.inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : []));
}

async function sizeOf(directory: string): Promise<number> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && !entry.name.endsWith('.LEGAL.txt'));
  const sizes = await Promise.all(files.map(async (entry) => (await stat(join(entry.parentPath, entry.name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Scripts of scripted models travel as JSON beside the code. */
function deployedConfig(config: Config): Config {
  const models = Object.entries(config.models).map(([name, model]) => [
    name,
    model.provider === 'scripted' ? { ...model, script: scriptFile(name) } : model,
  ]);
  return { ...config, models: Object.fromEntries(models) };
}

type Scripts = ReadonlyMap<string, unknown>;

/** The scripts of scripted models, by the model's name in the configuration. */
function readScripts({ config, configDirectory, place }: BundleOptions): Scripts {
  return new Map(
    Object.entries(config.models).flatMap(([name, model]): [string, unknown][] =>
      model.provider === 'scripted'
        ? [
            [
              name,
              atField(['models', name, 'script'], place, () =>
                readScript(readNamedFile(resolve(configDirectory, model.script)), model.script),
              ),
            ],
          ]
        : [],
    ),
  );
}

async function writeScripts(directory: string, scripts: Scripts): Promise<void> {
  for (const [name, script] of scripts) await writeFile(join(directory, scriptFile(name)), JSON.stringify(script));
}

const scriptFile = (model: string): string => `script.${model}.json`;

function at<T>(items: readonly T[], index: number): T {
  const item = items[index];
  if (item === undefined) throw new HandrailError('INTERNAL', `no item ${index}`);
  return item;
}
