import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { FileTree, TreeChanges } from './child-tree.ts';

/** CPython 3.13 compiled to WebAssembly, as just-bash ships it: no sockets, no processes, no threads, no bridge to JavaScript. */
export interface PythonRun {
  /** Directory of python.cjs, python.wasm and python313.zip. */
  readonly vendor: string;
  /** As on the command line: `['script.py', 'a']`, `['-c', '…']`. */
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: Uint8Array;
  /** Absolute paths. Contents may be written in place: the caller gives them up. */
  readonly tree: FileTree;
  /** Only what changes below these directories is reported. */
  readonly roots: readonly string[];
  /** Bytes all files may hold together; beyond, writes fail with ENOSPC. */
  readonly fileSystemBytes: number;
  /** False when the output limit is reached: the script then gets BrokenPipeError. The bytes are only valid during the call. */
  stdout(bytes: Uint8Array): boolean;
  stderr(bytes: Uint8Array): boolean;
}

interface MemNode {
  readonly mode: number;
  ctime: number;
  mtime: number;
  usedBytes?: number;
  /** Of a file, its bytes; of a directory, its entries. */
  contents: Uint8Array | Int8Array | Record<string, MemNode> | null;
  stream_ops: { write?: StreamWrite };
  node_ops: { setattr?: (node: MemNode, attributes: { size?: number }) => void };
}
interface Stream {
  readonly node: MemNode;
  stream_ops: object;
}
type StreamWrite = (stream: Stream, buffer: Uint8Array, offset: number, length: number, position: number, canOwn?: boolean) => number;

/** The parts of Emscripten's module and file system that are used here. */
interface EmscriptenFs {
  readonly ErrnoError: new (errno: number) => Error;
  readonly streams: Stream[];
  init(stdin: () => number | null, stdout: () => void, stderr: () => void): void;
  mkdirTree(path: string): void;
  writeFile(path: string, data: Uint8Array, options: { canOwn: boolean }): void;
  chdir(path: string): void;
  isDir(mode: number): boolean;
  isFile(mode: number): boolean;
  analyzePath(path: string, noFollow: boolean): { exists: boolean; object: MemNode | null };
}
interface EmscriptenModule {
  readonly FS: EmscriptenFs;
  readonly ENV: Record<string, string>;
  callMain(args: string[]): number;
}
type CreateModule = (options: object) => Promise<EmscriptenModule>;

/** WASI numbers, which this build uses. */
const ENOSPC = 51;
const EPIPE = 64;

/** Runs one interpreter to its end on this thread. Throws when the interpreter itself breaks (stack overflow, abort). */
export async function runPython(run: PythonRun): Promise<{ exitCode: number; changes: TreeChanges }> {
  // Vendored code without types; its shape is pinned by the version of just-bash and by the tests.
  const create = createRequire(import.meta.url)(join(run.vendor, 'python.cjs')) as CreateModule;
  const before = new Map<string, { node: MemNode; contents: MemNode['contents']; bytes: number; ctime: number }>();
  const module = await create({
    noInitialRun: true,
    locateFile: (name: string) => join(run.vendor, name),
    preRun: [
      (module: EmscriptenModule) => {
        prepare(module, run);
        for (const [path, node] of walk(module.FS, run.roots)) {
          before.set(path, { node, contents: node.contents, bytes: node.usedBytes ?? 0, ctime: node.ctime });
        }
      },
    ],
  });
  module.FS.chdir(run.cwd);
  let exitCode = 0;
  try {
    exitCode = module.callMain([...run.args]);
  } finally {
    // The runtime sets it for its own sake; this process reports the script's exit code in its reply.
    process.exitCode = 0;
  }
  const files = new Map<string, Uint8Array>();
  const directories: string[] = [];
  const skipped: string[] = [];
  const after = new Set<string>();
  for (const [path, node] of walk(module.FS, run.roots)) {
    const old = before.get(path);
    if (module.FS.isDir(node.mode)) {
      after.add(path);
      if (!old || !module.FS.isDir(old.node.mode)) directories.push(path);
    } else if (module.FS.isFile(node.mode)) {
      after.add(path);
      const same = old?.node === node && old.contents === node.contents && old.bytes === node.usedBytes && old.ctime === node.ctime;
      if (!same) files.set(path, contentsOf(node));
    } else skipped.push(path);
  }
  const removed = [...before.keys()].filter((path) => !after.has(path));
  return { exitCode, changes: { files, directories, removed, skipped } };
}

function prepare(module: EmscriptenModule, run: PythonRun): void {
  const { FS, ENV } = module;
  let position = 0;
  FS.init(
    () => (position < run.stdin.length ? (run.stdin[position++] ?? null) : null),
    () => {},
    () => {},
  );
  sink(FS, 1, run.stdout);
  sink(FS, 2, run.stderr);
  FS.mkdirTree('/lib/python3.13/lib-dynload');
  FS.writeFile('/lib/python313.zip', readFileSync(join(run.vendor, 'python313.zip')), { canOwn: true });
  for (const root of run.roots) FS.mkdirTree(root);
  for (const [path, file] of run.tree) {
    if (file === undefined) FS.mkdirTree(path);
    else {
      FS.mkdirTree(path.slice(0, path.lastIndexOf('/')) || '/');
      FS.writeFile(path, file.data, { canOwn: true });
      const node = FS.analyzePath(path, true).object;
      if (node) node.mtime = file.modifiedAt;
    }
  }
  limitBytes(FS, run.fileSystemBytes);
  // The standard library comes first: a `json.py` of the workspace must not break the interpreter's own start.
  Object.assign(ENV, run.env, {
    PYTHONHOME: '/',
    PYTHONPATH: '/lib/python313.zip:/workspace',
    PYTHONSAFEPATH: '1',
    PYTHONUNBUFFERED: '1',
    PYTHONDONTWRITEBYTECODE: '1',
  });
}

/** Replaces the terminal of Emscripten, which takes one character at a time, by whole chunks. */
function sink(FS: EmscriptenFs, descriptor: number, write: (bytes: Uint8Array) => boolean): void {
  const stream = FS.streams[descriptor];
  if (!stream) throw new Error(`no stream ${descriptor}`);
  const writeChunk: StreamWrite = (_stream, buffer, offset, length) => {
    if (!write(buffer.subarray(offset, offset + length))) throw new FS.ErrnoError(EPIPE);
    return length;
  };
  stream.stream_ops = { ...stream.stream_ops, write: writeChunk };
}

/** Files live in this process's memory, outside the interpreter's own 512 MB: they need a limit of their own. */
function limitBytes(FS: EmscriptenFs, fileSystemBytes: number): void {
  const file = FS.analyzePath('/lib/python313.zip', true).object;
  // Shared by all files of the file system.
  const write = file?.stream_ops.write;
  const setattr = file?.node_ops.setattr;
  if (!write || !setattr) throw new Error('the file system lacks an operation');
  let used = bytesIn(FS);
  const grow = (bytes: number): void => {
    // What was deleted or cut is only credited here, when it matters.
    if (used + bytes > fileSystemBytes) used = bytesIn(FS);
    if (used + bytes > fileSystemBytes) throw new FS.ErrnoError(ENOSPC);
    used += bytes;
  };
  file.stream_ops.write = (stream, buffer, offset, length, position, canOwn) => {
    grow(Math.max(0, position + length - (stream.node.usedBytes ?? 0)));
    return write(stream, buffer, offset, length, position, canOwn);
  };
  file.node_ops.setattr = (node, attributes) => {
    grow(Math.max(0, (attributes.size ?? 0) - (node.usedBytes ?? 0)));
    setattr(node, attributes);
  };
}

function bytesIn(FS: EmscriptenFs): number {
  let total = 0;
  for (const [path, node] of walk(FS, [''])) if (!path.startsWith('/lib/')) total += node.usedBytes ?? 0;
  return total;
}

/** Every entry below the roots, parents before children; symbolic links are listed, never followed. */
function* walk(FS: EmscriptenFs, roots: readonly string[]): Generator<[string, MemNode]> {
  for (const root of roots) {
    const node = FS.analyzePath(root || '/', true).object;
    if (node) yield* below(FS, root, node);
  }
}

function* below(FS: EmscriptenFs, path: string, node: MemNode): Generator<[string, MemNode]> {
  if (!FS.isDir(node.mode) || node.contents === null || ArrayBuffer.isView(node.contents)) return;
  for (const [name, child] of Object.entries(node.contents)) {
    yield [`${path}/${name}`, child];
    yield* below(FS, `${path}/${name}`, child);
  }
}

/** A file's bytes; what grew has spare room at its end. */
function contentsOf(node: MemNode): Uint8Array {
  if (node.contents === null) return new Uint8Array(0);
  // Copied from the interpreter's heap, which is a view of signed bytes.
  if (!ArrayBuffer.isView(node.contents)) throw new Error('a file that is not held as bytes');
  return new Uint8Array(node.contents.buffer, node.contents.byteOffset, node.usedBytes ?? 0);
}
