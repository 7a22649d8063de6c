import { existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HandrailError } from '../../core/errors.ts';
import type { CodeRequest } from '../../core/ports/code-runner.ts';

type Language = CodeRequest['language'];

/** Files a child runs from. The directories are all it may read. */
export interface SandboxAssets {
  readonly entries: Readonly<Record<Language, string>>;
  /** Loaded by `--import` before the entry. */
  readonly guard: string;
  /** What a language's interpreter is loaded from. */
  readonly vendor: Readonly<Record<Language, string>>;
  readonly readable: readonly string[];
}

const NAMES = { shell: 'child-shell', python: 'child-python', javascript: 'child-javascript' } as const satisfies Record<Language, string>;
const GUARD = 'interpreter-guard';
/** Directory of the children in a bundle, beside the function's `index.mjs`. */
const BUNDLE = 'sandbox';

/**
 * Where the children lie: in a bundle `sandbox/` beside the code, else the sources beside this file, which Node runs by
 * stripping their types. HandrailError INTERNAL when neither is there.
 */
export function findAssets(here = dirname(fileURLToPath(import.meta.url))): SandboxAssets {
  const bundle = join(here, BUNDLE);
  if (existsSync(join(bundle, `${NAMES.shell}.mjs`))) {
    const directory = realpathSync(bundle);
    return assetsIn(directory, '.mjs', { cpython: join(directory, 'cpython'), quickjs: join(directory, 'quickjs') }, []);
  }
  if (!existsSync(join(here, `${NAMES.shell}.ts`))) throw new HandrailError('INTERNAL', 'The sandbox is not part of this bundle.');
  // Packages resolve one another, so what holds them is readable as a whole; it is all public code.
  return assetsIn(realpathSync(here), '.ts', installedVendors(), [dirname(packageDirectory('just-bash'))]);
}

/**
 * What a function that runs code ships besides its own bundle (CDK's bundling reads it). The entry points must go through
 * one esbuild run of their own with `splitting: true` and `sandboxBuild`, outdir `<function>/`; then `copies` are copied.
 * About 14 MB in all, of which CPython is 10.4 MB.
 */
export interface SandboxManifest {
  /** `out` is relative to the function's directory, without extension. */
  readonly entryPoints: readonly { readonly in: string; readonly out: string }[];
  /** Absolute source, target relative to the function's directory. */
  readonly copies: readonly { readonly from: string; readonly to: string }[];
}

/** Options of that esbuild run besides entry points and outdir. */
export const sandboxBuild = {
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  splitting: true,
  minify: true,
  outExtension: { '.js': '.mjs' },
  // Optional native codecs of just-bash's tar, absent by choice.
  external: ['node-liblzma', '@mongodb-js/zstd'] as string[],
  chunkNames: `${BUNDLE}/[name]-[hash]`,
} as const;

/** For building only: it looks into `node_modules`, which a bundle does not have. */
export function sandboxManifest(): SandboxManifest {
  const here = dirname(fileURLToPath(import.meta.url));
  const { cpython, quickjs } = installedVendors();
  return {
    entryPoints: [...Object.values(NAMES), GUARD].map((name) => ({ in: join(here, `${name}.ts`), out: `${BUNDLE}/${name}` })),
    copies: [
      ...['python.cjs', 'python.wasm', 'python313.zip'].map((name) => ({ from: join(cpython, name), to: `${BUNDLE}/cpython/${name}` })),
      { from: join(quickjs, QUICKJS_WASM), to: `${BUNDLE}/quickjs/${QUICKJS_WASM}` },
    ],
  };
}

const QUICKJS_WASM = 'emscripten-module.wasm';

interface Vendors {
  readonly cpython: string;
  readonly quickjs: string;
}

function installedVendors(): Vendors {
  const justBash = packageDirectory('just-bash');
  const quickjs = packageDirectory('@jitl/quickjs-wasmfile-release-sync', packageDirectory('quickjs-emscripten'));
  return { cpython: join(justBash, 'vendor', 'cpython-emscripten'), quickjs: join(quickjs, 'dist') };
}

function assetsIn(directory: string, extension: string, vendors: Vendors, alsoReadable: readonly string[]): SandboxAssets {
  const file = (name: string): string => join(directory, `${name}${extension}`);
  return {
    entries: { shell: file(NAMES.shell), python: file(NAMES.python), javascript: file(NAMES.javascript) },
    guard: file(GUARD),
    // A shell script may call `python3`.
    vendor: { shell: vendors.cpython, python: vendors.cpython, javascript: vendors.quickjs },
    readable: [directory, ...alsoReadable],
  };
}

/** Directory of an installed package, whatever its `exports` say, as seen from this file or from another package. */
function packageDirectory(name: string, from?: string): string {
  const require = createRequire(from === undefined ? import.meta.url : join(from, 'package.json'));
  const entry = realpathSync(require.resolve(name));
  const end = entry.lastIndexOf(join('node_modules', name)) + join('node_modules', name).length;
  return entry.slice(0, end);
}
