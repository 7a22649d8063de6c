import { type Code, HandrailError } from '../../core/errors.ts';
import { shownPath } from './workspace-path.ts';

interface Failure {
  readonly code: Code;
  readonly text: string;
}

const FAILURES: Readonly<Record<string, Failure>> = {
  ENOENT: { code: 'FILE_NOT_FOUND', text: 'there is no such file or directory' },
  EACCES: { code: 'PERMISSION_DENIED', text: 'the file system does not permit it' },
  EPERM: { code: 'PERMISSION_DENIED', text: 'the file system does not permit it' },
  EROFS: { code: 'PERMISSION_DENIED', text: 'the workspace is read-only' },
  ELOOP: { code: 'PERMISSION_DENIED', text: 'it is a link, and links are not followed' },
  ENXIO: { code: 'PERMISSION_DENIED', text: 'it is not a regular file' },
  ENOTDIR: { code: 'INVALID_ARGUMENTS', text: 'a part of the path is a file, not a directory' },
  EISDIR: { code: 'INVALID_ARGUMENTS', text: 'it is a directory' },
  EEXIST: { code: 'INVALID_ARGUMENTS', text: 'it exists already' },
  ENOTEMPTY: { code: 'INVALID_ARGUMENTS', text: 'the directory holds entries that cannot be removed' },
  ENAMETOOLONG: { code: 'INVALID_ARGUMENTS', text: 'the path is too long for the file system' },
  EINVAL: { code: 'INVALID_ARGUMENTS', text: 'the file system does not take such a name' },
  EILSEQ: { code: 'INVALID_ARGUMENTS', text: 'the file system does not take such a name' },
  ENOSPC: { code: 'RESOURCE_EXHAUSTED', text: 'the disk is full' },
  EDQUOT: { code: 'RESOURCE_EXHAUSTED', text: 'the disk quota is used up' },
  EFBIG: { code: 'RESOURCE_EXHAUSTED', text: 'the file would be too large' },
  EMFILE: { code: 'SERVICE_UNAVAILABLE', text: 'too many files are open at the moment' },
  ENFILE: { code: 'SERVICE_UNAVAILABLE', text: 'too many files are open at the moment' },
  EIO: { code: 'SERVICE_UNAVAILABLE', text: 'the storage does not answer properly' },
  ESTALE: { code: 'SERVICE_UNAVAILABLE', text: 'the storage does not answer properly' },
};

/**
 * What an operation on `path` failed with, as the caller may see it. The system's own error is dropped, since its text,
 * and a logged cause too, would show where on the host the workspace lies; its code is kept as the cause.
 */
export function workspaceError(error: unknown, path: string): HandrailError {
  if (error instanceof HandrailError) return error;
  const code = errorCode(error) ?? 'unknown';
  const failure = Object.hasOwn(FAILURES, code) ? FAILURES[code] : undefined;
  const { code: as, text } = failure ?? { code: 'UNHANDLED' as const, text: 'the file system refused' };
  return refusal(as, path, text, new Error(code));
}

/** A refusal that names the workspace path only. */
export function refusal(code: Code, path: string, text: string, cause?: Error): HandrailError {
  return new HandrailError(code, `${shownPath(path)}: ${text}.`, cause === undefined ? {} : { cause });
}

/** `ENOENT` and the like; undefined for anything that is not an error of the system. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** The value, or undefined when what was looked for is not there. */
export async function unlessAbsent<T>(pending: Promise<T>): Promise<T | undefined> {
  try {
    return await pending;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
