import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, open, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { HandrailError } from '../../core/errors.ts';
import { errorCode, unlessAbsent } from './workspace-errors.ts';

/**
 * How directories are held. `descriptor`: by an open descriptor, entries reached through `/proc/self/fd`, so that no
 * change of a parent can redirect an operation (Linux). `verified`: by path, checked before and after each use, for
 * systems without it; somebody who swaps directories at the right microsecond could make an empty file appear outside.
 */
export type Access = 'descriptor' | 'verified';

/** One directory of a walk. What it was when it was entered is what its entries are reached through. */
export interface Directory extends AsyncDisposable {
  /** Host path of the directory, for listing it. */
  readonly here: string;
  /** Host path of an entry. Only the entry itself may be a link: callers use calls that do not follow it. */
  at(name: string): string;
  /** The directory `name` in this one, undefined when absent. PERMISSION_DENIED for a link, INVALID_ARGUMENTS for a file. */
  enter(name: string): Promise<Directory | undefined>;
  /** PERMISSION_DENIED when `name` does not lead to the opened file by its own, unlinked path. */
  confirm(name: string, opened: FileHandle): Promise<void>;
}

const DIRECTORY_FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

const CONFIRM_ROUNDS = 4;

/** The best way this system has. */
export async function bestAccess(directory: string): Promise<Access> {
  if (process.platform !== 'linux') return 'verified';
  try {
    await using probe = await DescriptorDirectory.open(directory);
    await lstat(probe.at('.'));
    return 'descriptor';
  } catch {
    return 'verified';
  }
}

/** Opens a directory that the operator named, not a caller: `realPath` is not checked. */
export async function openDirectory(realPath: string, access: Access): Promise<Directory> {
  return access === 'descriptor' ? DescriptorDirectory.open(realPath) : new VerifiedDirectory(realPath);
}

class DescriptorDirectory implements Directory {
  readonly here: string;
  readonly #handle: FileHandle;

  private constructor(handle: FileHandle) {
    this.#handle = handle;
    this.here = `/proc/self/fd/${handle.fd}`;
  }

  static async open(path: string): Promise<DescriptorDirectory> {
    return new DescriptorDirectory(await open(path, DIRECTORY_FLAGS));
  }

  at(name: string): string {
    return `${this.here}/${name}`;
  }

  async enter(name: string): Promise<Directory | undefined> {
    try {
      return await DescriptorDirectory.open(this.at(name));
    } catch (error) {
      const code = errorCode(error);
      if (code === 'ENOENT') return undefined;
      if (code !== 'ENOTDIR' && code !== 'ELOOP') throw error;
      // The kernel answers ENOTDIR for a link as well as for a file. If it is a directory by now, somebody plays with links.
      checkDirectory(name, await unlessAbsent(lstat(this.at(name))));
      throw linkRefused(name);
    }
  }

  async confirm(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
  }
}

class VerifiedDirectory implements Directory {
  readonly here: string;

  constructor(here: string) {
    this.here = here;
  }

  at(name: string): string {
    return join(this.here, name);
  }

  async enter(name: string): Promise<Directory | undefined> {
    const path = this.at(name);
    const found = await unlessAbsent(lstat(path));
    if (found === undefined) return undefined;
    checkDirectory(name, found);
    await checkUnlinked(path, name);
    return new VerifiedDirectory(path);
  }

  async confirm(name: string, opened: FileHandle): Promise<void> {
    const path = this.at(name);
    // The two looks of a round can be fooled by a swap in between; one that hits every round is another matter.
    for (let round = 0; round < CONFIRM_ROUNDS; round++) {
      const [named, held] = [await lstat(path), await opened.stat()];
      await checkUnlinked(path, name);
      // Without a name left it was replaced after it was opened, by a write like ours.
      if (held.nlink > 0 && (named.ino !== held.ino || named.dev !== held.dev)) throw linkRefused(name);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

function checkDirectory(name: string, found: Stats | undefined): void {
  if (found?.isSymbolicLink()) throw linkRefused(name);
  if (found !== undefined && !found.isDirectory()) {
    throw new HandrailError('INVALID_ARGUMENTS', `${JSON.stringify(name)} is a file, not a directory.`);
  }
}

/** Also refuses, on systems that ignore case, a name that differs in case from the one on disk. */
async function checkUnlinked(path: string, name: string): Promise<void> {
  if ((await realpath(path)).normalize('NFC') !== path.normalize('NFC')) throw linkRefused(name);
}

function linkRefused(name: string): HandrailError {
  return new HandrailError('PERMISSION_DENIED', `${JSON.stringify(name)} is a link; links are not followed.`);
}
