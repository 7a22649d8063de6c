import type { FileTree } from './child-tree.ts';

/**
 * One message each way between parent and child: the length of a JSON header (4 bytes, little endian), the header, then
 * the contents of the files it lists, one after the other. Binary, because a workspace may hold 100 MB.
 */
export interface ChildRequest {
  readonly code: string;
  readonly stdin: string;
  readonly timeoutMs: number;
  /** Bytes the script's files may hold together. */
  readonly fileSystemBytes: number;
  /** Bytes of stdout, and of stderr, after which the script's writes fail. */
  readonly outputBytes: number;
  /** Directory of the interpreter's files. */
  readonly vendor: string;
  readonly directories: readonly string[];
  readonly files: readonly FileHeader[];
}

/** Path relative to the workspace; bytes; ms since 1970 of its last change. */
type FileHeader = readonly [path: string, bytes: number, modifiedAt: number];

/** Instead of a reply: why the interpreter broke. */
export interface ChildCrash {
  readonly crash: string;
}

export interface ChildReply {
  readonly exitCode: number;
  readonly directories: readonly string[];
  readonly removed: readonly string[];
  readonly skipped: readonly string[];
  readonly files: readonly (readonly [path: string, bytes: number])[];
}

/** The message as chunks to be written in order; contents are not copied. */
export function encodeMessage(header: object, contents: Iterable<Uint8Array>): Uint8Array[] {
  const json = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(json.length);
  return [length, json, ...contents];
}

/** The code (128 KB of arguments at most) and the paths of a full workspace are far below; a hostile child is not parsed. */
const HEADER_BYTES = 16 * 1024 * 1024;

/** Header (as parsed JSON, unchecked) and the bytes behind it. Throws a RangeError when it is no whole message. */
export function decodeMessage(message: Uint8Array): { header: unknown; rest: Uint8Array } {
  const buffer = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
  const end = 4 + buffer.readUInt32LE(0);
  if (end > buffer.length || end > HEADER_BYTES) throw new RangeError('message cut short, or its header too long');
  return { header: JSON.parse(buffer.toString('utf8', 4, end)), rest: buffer.subarray(end) };
}

/** The contents that follow a header, as views. Throws a RangeError when they do not fill the message exactly. */
export function splitContents(sizes: readonly number[], rest: Uint8Array): Uint8Array[] {
  let position = 0;
  const contents = sizes.map((size) => {
    position += size;
    return rest.subarray(position - size, position);
  });
  if (position !== rest.length) throw new RangeError('contents do not match their header');
  return contents;
}

/** The request's files below `root`. */
export function requestTree(request: ChildRequest, rest: Uint8Array, root: string): FileTree {
  const tree: FileTree = new Map();
  for (const path of request.directories) tree.set(`${root}/${path}`, undefined);
  const contents = splitContents(
    request.files.map(([, bytes]) => bytes),
    rest,
  );
  request.files.forEach(([path, , modifiedAt], index) => {
    const data = contents[index];
    if (data) tree.set(`${root}/${path}`, { data, modifiedAt });
  });
  return tree;
}
