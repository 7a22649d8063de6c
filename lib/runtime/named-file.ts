import { readFileSync } from 'node:fs';
import { HandrailError } from '../core/errors.ts';

/** Text of a file that an operator names; undefined when there is none. Errors: BAD_REQUEST with the path and the reason. */
export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
    if (code === 'ENOENT') return undefined;
    throw new HandrailError('BAD_REQUEST', `${path} cannot be read (${REASONS[code] ?? code})`, { cause });
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EISDIR: 'it is a directory',
  ENOTDIR: 'a part of the path is no directory',
  EACCES: 'no permission',
};

/** The same for a file that must be there. */
export function readNamedFile(path: string): string {
  const text = readIfThere(path);
  if (text === undefined) throw new HandrailError('BAD_REQUEST', `there is no file ${path}`);
  return text;
}
