import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { newQuickJSWASMModuleFromVariant, newVariant, type QuickJSContext, type QuickJSHandle, RELEASE_SYNC } from 'quickjs-emscripten';
import { MemoryFiles } from './child-memory-files.ts';
import { PRELUDE } from './child-quickjs-prelude.ts';
import { type FileTree, type TreeChanges, WORKSPACE_PATH } from './child-tree.ts';

export interface JavaScriptRun {
  /** Directory of emscripten-module.wasm. */
  readonly vendor: string;
  readonly code: string;
  readonly stdin: string;
  /** Absolute paths. */
  readonly tree: FileTree;
  readonly fileSystemBytes: number;
  /** False when the output limit is reached. */
  stdout(text: string): boolean;
  stderr(text: string): boolean;
}

/** Below what the WebAssembly stack bears: deeper recursion is the script's InternalError instead of a crash. */
const STACK_BYTES = 256 * 1024;
/** Kept for plain values only; typed arrays escape it, and the watchdog of the parent is what bounds those. */
const MEMORY_BYTES = 512 * 1024 * 1024;
const SCRIPT = 'script.js';
/** What a script may import by name. */
const BUILT_IN: Readonly<Record<string, string>> = {
  fs: 'readFileSync, writeFileSync, appendFileSync, existsSync, statSync, lstatSync, accessSync, readdirSync, mkdirSync, rmSync, rmdirSync, unlinkSync, renameSync, copyFileSync, promises',
  'fs/promises': 'readFile, writeFile, appendFile, stat, lstat, access, readdir, mkdir, rm, rmdir, unlink, rename, copyFile',
  path: 'join, resolve, basename, dirname, extname, normalize, isAbsolute, sep',
};

/** Runs a script as a module in QuickJS to its end: to the last of its timers and promises. */
export async function runJavaScript(run: JavaScriptRun): Promise<{ exitCode: number; changes: TreeChanges }> {
  const wasmBinary = toArrayBuffer(readFileSync(join(run.vendor, 'emscripten-module.wasm')));
  const quickjs = await newQuickJSWASMModuleFromVariant(newVariant(RELEASE_SYNC, { wasmBinary }));
  const context = quickjs.newContext();
  const files = new MemoryFiles(run.tree, run.fileSystemBytes);
  const exit: { code: number | undefined } = { code: undefined };
  context.runtime.setMemoryLimit(MEMORY_BYTES);
  context.runtime.setMaxStackSize(STACK_BYTES);
  // The only way to end a script that would catch an exception.
  context.runtime.setInterruptHandler(() => exit.code !== undefined);
  context.runtime.setModuleLoader((name) => moduleSource(name, files), resolveModule);
  defineHost(context, run, files, exit);
  const driver = context.unwrapResult(context.evalCode(PRELUDE, 'prelude.js'));
  const failure = await evaluate(context, driver, run.code, exit);
  // An exit interrupts whatever runs, which then looks like a failure.
  if (failure !== undefined && exit.code === undefined) run.stderr(`${failure}\n`);
  const exitCode = exit.code ?? (failure === undefined ? 0 : 1);
  return { exitCode, changes: files.changes() };
}

/** What the script threw, as text; undefined when it ended well. */
async function evaluate(
  context: QuickJSContext,
  driver: QuickJSHandle,
  code: string,
  exit: { code: number | undefined },
): Promise<string | undefined> {
  const result = context.evalCode(code, SCRIPT, { type: 'module' });
  if (result.error) return shown(context, driver, result.error);
  while (exit.code === undefined) {
    const jobs = context.runtime.executePendingJobs();
    if (jobs.error) return shown(context, driver, jobs.error);
    const state = context.getPromiseState(result.value);
    if (state.type === 'rejected') return shown(context, driver, state.error);
    const wait = context.unwrapResult(context.callMethod(driver, 'wait')).consume((handle) => context.getNumber(handle));
    if (wait < 0) return state.type === 'pending' ? 'The script waits for a promise that nothing will settle.' : undefined;
    await new Promise((resolve) => setTimeout(resolve, wait));
    const fired = context.callMethod(driver, 'fire');
    if (fired.error) return shown(context, driver, fired.error);
  }
  return undefined;
}

function shown(context: QuickJSContext, driver: QuickJSHandle, error: QuickJSHandle): string {
  const text = context.callMethod(driver, 'show', [error]);
  return text.error ? 'The script failed.' : context.getString(text.value);
}

/** All the bridge there is between the script and this process. Deleted from the globals by the prelude. */
function defineHost(context: QuickJSContext, run: JavaScriptRun, files: MemoryFiles, exit: { code: number | undefined }): void {
  const text = (handle: QuickJSHandle | undefined): string => (handle ? context.getString(handle) : '');
  const flag = (handle: QuickJSHandle | undefined): boolean => handle !== undefined && context.dump(handle) === true;
  const bytes = (handle: QuickJSHandle | undefined): Uint8Array =>
    handle ? context.getArrayBuffer(handle).consume(({ value }) => value.slice()) : new Uint8Array(0);
  const none = (_done: unknown): undefined => undefined;
  const functions: Record<string, (...args: QuickJSHandle[]) => QuickJSHandle | undefined> = {
    write: (descriptor, message) => {
      const written = descriptor && context.getNumber(descriptor) === 2 ? run.stderr(text(message)) : run.stdout(text(message));
      if (!written) throw new Error('EPIPE: the output limit is reached');
      return undefined;
    },
    readText: (path) => context.newString(Buffer.from(read(text(path), files, run)).toString()),
    readBytes: (path) => context.newArrayBuffer(toArrayBuffer(read(text(path), files, run))),
    writeText: (path, data, append) => none(files.write(text(path), Buffer.from(text(data)), flag(append))),
    writeBytes: (path, data, append) => none(files.write(text(path), bytes(data), flag(append))),
    stat: (path) => {
      const { kind, size, modifiedAt } = files.stat(text(path));
      return context.newString(JSON.stringify([kind, size, modifiedAt]));
    },
    list: (path) => context.newString(JSON.stringify(files.list(text(path)))),
    makeDirectory: (path, recursive) => none(files.makeDirectory(text(path), flag(recursive))),
    remove: (path, recursive) => none(files.remove(text(path), flag(recursive))),
    rename: (from, to) => none(files.rename(text(from), text(to))),
    exit: (code) => {
      exit.code = code ? context.getNumber(code) & 0xff : 0;
      return undefined;
    },
    now: () => context.newNumber(performance.now()),
  };
  const host = context.newObject();
  for (const [name, work] of Object.entries(functions)) {
    context.newFunction(name, (...args) => work(...args) ?? context.undefined).consume((handle) => context.setProp(host, name, handle));
  }
  context.setProp(context.global, '__host', host);
  host.dispose();
}

function read(path: string, files: MemoryFiles, run: JavaScriptRun): Uint8Array {
  // As scripts of Node read their input: descriptor 0, or its path.
  return path === '0' || path === '/dev/stdin' ? Buffer.from(run.stdin) : files.read(path);
}

/** A module of the workspace, or one of the built-in ones the prelude made, by its names. */
function moduleSource(name: string, files: MemoryFiles): string {
  if (name.startsWith('/')) return Buffer.from(files.read(name)).toString();
  const key = JSON.stringify(name);
  const names = BUILT_IN[name];
  if (names === undefined)
    throw new Error(`Cannot find module '${name}': only fs, fs/promises and path exist here; nothing can be installed`);
  return `const module = globalThis.require(${key}); export default module; export const { ${names} } = module;`;
}

function resolveModule(base: string, requested: string): string {
  if (!/^\.{0,2}\//.test(requested)) return requested.replace(/^node:/, '');
  return posix.resolve(base.startsWith('/') ? posix.dirname(base) : WORKSPACE_PATH, requested);
}

function toArrayBuffer(bytes: Uint8Array): ArrayBuffer {
  const copy = new ArrayBuffer(bytes.length);
  new Uint8Array(copy).set(bytes);
  return copy;
}
