import { HandrailError } from '../../core/errors.ts';
import { utf8Bytes } from '../../core/json.ts';

/** Prefix of the files a write makes before its rename. Nobody may name one, and no listing shows one. */
export const TEMP_PREFIX = '.handrail-';
/** NAME_MAX of every file system we know, in UTF-8 bytes. */
const NAME_BYTES = 255;
/** Longest path taken, in UTF-16 units: looked at before anything else is done with a path. */
const PATH_LENGTH = 8_192;
/** Directories below one another. */
export const PATH_DEPTH = 64;
/** Control characters, line and paragraph separators, and the marks that turn the direction of the text around. */
const UNPRINTABLE = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

/** A path that cannot leave the workspace by its spelling. */
export interface WorkspacePath {
  /** What to walk, in order; `..` steps back along the walk, never through the kernel. */
  readonly steps: readonly string[];
  /** The steps with every `..` taken out; empty for the workspace itself. */
  readonly names: readonly string[];
  /** It ends in `/` or `.`, so that it can only mean a directory. */
  readonly directoryOnly: boolean;
}

/**
 * Reads a path relative to the workspace. Nothing is decoded or expanded: `%2e`, `~` and `$HOME` are plain characters.
 * Names are brought to Unicode's NFC form. HandrailError PERMISSION_DENIED when it points outside (absolute, or above
 * the root at any point), INVALID_ARGUMENTS when no file could have that name. Facts: design 6.6.
 */
export function parsePath(path: string): WorkspacePath {
  if (path.length > PATH_LENGTH) throw new HandrailError('INVALID_ARGUMENTS', `The path is longer than ${PATH_LENGTH} characters.`);
  if (!path.isWellFormed()) throw new HandrailError('INVALID_ARGUMENTS', 'The path holds half a surrogate pair; write it anew.');
  if (UNPRINTABLE.test(path)) {
    throw new HandrailError('INVALID_ARGUMENTS', 'The path holds a control character or a mark that changes the direction of text.');
  }
  if (path.startsWith('/')) {
    throw new HandrailError('PERMISSION_DENIED', 'Absolute paths are outside the workspace.', {
      suggestions: ['Use a path relative to the workspace, such as "notes/plan.md"; "." is the workspace itself.'],
    });
  }
  if (path.includes('\\')) throw new HandrailError('INVALID_ARGUMENTS', 'Separate the parts of a path by "/", not by a backslash.');
  if (path !== '' && path.trim() === '') throw new HandrailError('INVALID_ARGUMENTS', 'The path is blank.');
  return steps(path.normalize('NFC').split('/'));
}

/** True when `name` can be a part of a path: what cannot be named is not listed. */
export function isNameable(name: string): boolean {
  return name.isWellFormed() && !UNPRINTABLE.test(name) && !name.includes('\\') && name.trim() !== '' && !name.startsWith(TEMP_PREFIX);
}

/** A path as messages show it: quoted, escaped, and never long. */
export function shownPath(path: string): string {
  return JSON.stringify(path.length > 200 ? `${path.slice(0, 200)}…` : path);
}

function steps(parts: readonly string[]): WorkspacePath {
  const kept: string[] = [];
  const names: string[] = [];
  for (const part of parts) {
    if (part === '' || part === '.') continue;
    kept.push(part);
    if (part !== '..') names.push(checkedName(part));
    else if (names.pop() === undefined) throw new HandrailError('PERMISSION_DENIED', 'The path leads above the workspace.');
  }
  if (kept.length > PATH_DEPTH) throw new HandrailError('INVALID_ARGUMENTS', `The path is more than ${PATH_DEPTH} directories deep.`);
  const last = parts.at(-1);
  return { steps: kept, names, directoryOnly: last === '' || last === '.' || last === '..' };
}

function checkedName(name: string): string {
  if (utf8Bytes(name) > NAME_BYTES) {
    throw new HandrailError('INVALID_ARGUMENTS', `A name in the path is longer than ${NAME_BYTES} bytes: ${shownPath(name.slice(0, 40))}…`);
  }
  if (name.startsWith(TEMP_PREFIX)) throw new HandrailError('PERMISSION_DENIED', `Names that begin with "${TEMP_PREFIX}" are reserved.`);
  return name;
}
