import { posix } from 'node:path';
import { type FileTree, type TreeChanges, WORKSPACE_PATH } from './child-tree.ts';

interface MemoryFile {
  data: Uint8Array;
  modifiedAt: number;
}

/** A small file system over a tree, for an interpreter that brings none. Errors carry Node's codes. */
export class MemoryFiles {
  /** `undefined` is a directory. */
  readonly #entries = new Map<string, MemoryFile | undefined>([
    ['/', undefined],
    ['/tmp', undefined],
    [WORKSPACE_PATH, undefined],
  ]);
  readonly #before: FileTree;
  readonly #limit: number;
  #bytes = 0;

  constructor(tree: FileTree, fileSystemBytes: number) {
    this.#before = tree;
    this.#limit = fileSystemBytes;
    for (const [path, file] of tree) {
      this.#entries.set(path, file === undefined ? undefined : { ...file });
      this.#bytes += file?.data.length ?? 0;
    }
  }

  read(path: string): Uint8Array {
    const file = this.#entries.get(this.#existing(path));
    if (file === undefined) throw failure('EISDIR', 'is a directory', path);
    return file.data;
  }

  write(path: string, data: Uint8Array, append: boolean): void {
    const at = absolute(path);
    this.#checkParent(at, path);
    const old = this.#entries.get(at);
    if (old === undefined && this.#entries.has(at)) throw failure('EISDIR', 'is a directory', path);
    const content = append && old ? Buffer.concat([old.data, data]) : data;
    this.#bytes += content.length - (old?.data.length ?? 0);
    if (this.#bytes > this.#limit) {
      this.#bytes -= content.length - (old?.data.length ?? 0);
      throw failure('ENOSPC', 'no space left', path);
    }
    this.#entries.set(at, { data: content, modifiedAt: Date.now() });
  }

  stat(path: string): { kind: 'file' | 'directory' | ''; size: number; modifiedAt: number } {
    const at = absolute(path);
    if (!this.#entries.has(at)) return { kind: '', size: 0, modifiedAt: 0 };
    const file = this.#entries.get(at);
    return file === undefined
      ? { kind: 'directory', size: 0, modifiedAt: 0 }
      : { kind: 'file', size: file.data.length, modifiedAt: file.modifiedAt };
  }

  list(path: string): string[] {
    const at = this.#existing(path);
    if (this.#entries.get(at) !== undefined) throw failure('ENOTDIR', 'not a directory', path);
    return [...this.#entries.keys()]
      .filter((other) => other !== '/' && posix.dirname(other) === at)
      .map((other) => posix.basename(other))
      .sort();
  }

  makeDirectory(path: string, recursive: boolean): void {
    const at = absolute(path);
    if (this.#entries.has(at)) {
      if (recursive && this.#entries.get(at) === undefined) return;
      throw failure('EEXIST', 'file already exists', path);
    }
    if (recursive) this.makeDirectory(posix.dirname(at), true);
    this.#checkParent(at, path);
    this.#entries.set(at, undefined);
  }

  remove(path: string, recursive: boolean): void {
    const at = this.#existing(path);
    const below = this.#below(at);
    if (below.length > 0 && !recursive) throw failure('ENOTEMPTY', 'directory not empty', path);
    if (at === '/' || at === WORKSPACE_PATH) throw failure('EPERM', 'operation not permitted', path);
    for (const other of [...below, at]) {
      this.#bytes -= this.#entries.get(other)?.data.length ?? 0;
      this.#entries.delete(other);
    }
  }

  rename(from: string, to: string): void {
    const source = this.#existing(from);
    const target = absolute(to);
    if (target === source) return;
    if (target.startsWith(`${source}/`) || source === WORKSPACE_PATH || source === '/') throw failure('EINVAL', 'invalid argument', from);
    this.#checkParent(target, to);
    if (this.#entries.has(target)) this.remove(to, false);
    for (const path of [source, ...this.#below(source)]) {
      this.#entries.set(target + path.slice(source.length), this.#entries.get(path));
      this.#entries.delete(path);
    }
  }

  changes(): TreeChanges {
    const files = new Map<string, Uint8Array>();
    const directories: string[] = [];
    for (const [path, file] of this.#entries) {
      if (file === undefined) {
        if (!this.#before.has(path) || this.#before.get(path) !== undefined) directories.push(path);
      } else if (this.#before.get(path)?.data !== file.data) files.set(path, file.data);
    }
    return {
      files,
      directories: directories.sort(),
      removed: [...this.#before.keys()].filter((path) => !this.#entries.has(path)),
      skipped: [],
    };
  }

  #existing(path: string): string {
    const at = absolute(path);
    if (!this.#entries.has(at)) throw failure('ENOENT', 'no such file or directory', path);
    return at;
  }

  #checkParent(at: string, path: string): void {
    const parent = posix.dirname(at);
    if (!this.#entries.has(parent)) throw failure('ENOENT', 'no such file or directory', path);
    if (this.#entries.get(parent) !== undefined || at === '/') throw failure('ENOTDIR', 'not a directory', path);
  }

  #below(at: string): string[] {
    return [...this.#entries.keys()].filter((path) => path.startsWith(`${at}/`));
  }
}

const absolute = (path: string): string => posix.resolve(WORKSPACE_PATH, path);

function failure(code: string, text: string, path: string): Error {
  return new Error(`${code}: ${text}: '${path}'`);
}
