import { closeSync, constants, fstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { SKILL } from '../../core/limits.ts';
import type { SkillFile } from '../../core/skills/skill.ts';

/** Hidden files and installed packages are no part of a skill. */
const LEFT_OUT = /^(?:\.|node_modules$|__pycache__$)/;

export interface FolderFiles {
  readonly files: readonly SkillFile[];
  /** What was left out and why, for people. */
  readonly notes: readonly string[];
}

/** Text of a regular file, never through a link and never of more than `maxBytes`; else why not. Does not wait for a FIFO. */
export function readTextFile(
  path: string,
  maxBytes: number,
): { readonly text: string; readonly bytes: number } | { readonly problem: string; readonly bytes: number } {
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    return { problem: code === 'ELOOP' ? 'is a link; the file itself must lie here' : `cannot be read (${String(code)})`, bytes: 0 };
  }
  try {
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) return { problem: 'is not a regular file', bytes: 0 };
    if (stat.size > maxBytes) return { problem: `is larger than ${maxBytes} bytes`, bytes: stat.size };
    // One more than it has: what grows meanwhile is seen, and not read to its end.
    return decode(readAtMost(descriptor, Math.min(stat.size, maxBytes) + 1), maxBytes);
  } finally {
    closeSync(descriptor);
  }
}

function readAtMost(descriptor: number, limit: number): Buffer {
  const buffer = Buffer.alloc(limit);
  let length = 0;
  for (let read = -1; read !== 0 && length < limit; length += read) read = readSync(descriptor, buffer, length, limit - length, length);
  return buffer.subarray(0, length);
}

function decode(data: Buffer, maxBytes: number): ReturnType<typeof readTextFile> {
  if (data.length > maxBytes) return { problem: `is larger than ${maxBytes} bytes`, bytes: data.length };
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(data), bytes: data.length };
  } catch {
    return { problem: 'is not UTF-8', bytes: data.length };
  }
}

/** The regular files of a skill's folder besides `skillFile`, in order of path, with their text where it is small text. */
export function listFolder(folder: string, skillFile: string): FolderFiles {
  const files: SkillFile[] = [];
  const notes: string[] = [];
  let texts = 0;
  const visit = (relative: string, depth: number): void => {
    const entries = readdirSync(join(folder, relative), { withFileTypes: true });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = relative === '' ? entry.name : `${relative}/${entry.name}`;
      if (LEFT_OUT.test(entry.name) || path === skillFile) continue;
      if (files.length >= SKILL.files) return;
      if (entry.isSymbolicLink()) notes.push(`"${path}" is a link and is left out`);
      else if (entry.isDirectory() && depth < SKILL.depth) visit(path, depth + 1);
      else if (entry.isFile()) {
        const read = readTextFile(join(folder, path), Math.min(SKILL.fileBytes, SKILL.textsBytes - texts));
        if ('text' in read) texts += read.bytes;
        files.push({ path, bytes: read.bytes, ...('text' in read ? { text: read.text } : {}) });
      }
    }
  };
  visit('', 0);
  if (files.length >= SKILL.files) notes.push(`only the first ${SKILL.files} files are taken`);
  return { files, notes };
}
