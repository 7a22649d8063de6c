import { closeSync, readSync, writeSync } from 'node:fs';
import { type ChildCrash, type ChildReply, type ChildRequest, decodeMessage, encodeMessage, requestTree } from './child-protocol.ts';
import { type FileTree, type TreeChanges, WORKSPACE_PATH } from './child-tree.ts';

/** What one language does with a request: runs it to its end and says what became of the files. */
export type RunLanguage = (job: ChildJob) => Promise<{ exitCode: number; changes: TreeChanges }>;

export interface ChildJob {
  readonly request: ChildRequest;
  /** The session's files, by absolute path. */
  readonly tree: FileTree;
  /** Both write at once, so that what was printed before a kill is not lost. False = output limit reached, bytes dropped. */
  stdout(bytes: Uint8Array): boolean;
  stderr(bytes: Uint8Array): boolean;
}

const REPLY_DESCRIPTOR = 3;
/** Time beyond the deadline, in which the parent would have killed the child. */
const ORPHAN_MS = 2_000;

/** The child's whole life: one request from stdin, one reply on descriptor 3, output on 1 and 2. */
export async function serve(run: RunLanguage): Promise<void> {
  silenceConsole();
  const { header, rest } = decodeMessage(readAll(0));
  // Written by the parent of this very version; there is nothing to distrust on this side of the wall.
  const request = header as ChildRequest;
  // A script that only waits uses no processor time: should the parent be gone, nobody else would end it.
  setTimeout(() => process.exit(1), request.timeoutMs + ORPHAN_MS).unref();
  // Each has its own limit: what goes wrong at the limit of one is said on the other.
  const write = (descriptor: number) => {
    let output = 0;
    return (bytes: Uint8Array) => {
      output += bytes.length;
      if (output > request.outputBytes) return false;
      writeAll(descriptor, bytes);
      return true;
    };
  };
  for (const chunk of await answer(() =>
    run({ request, tree: requestTree(request, rest, WORKSPACE_PATH), stdout: write(1), stderr: write(2) }),
  )) {
    writeAll(REPLY_DESCRIPTOR, chunk);
  }
  // The parent ends the process on it: on its own it would first wait for what V8 is still compiling in the background.
  closeSync(REPLY_DESCRIPTOR);
  // Nothing a script left behind (a timer, a promise) may keep the process alive.
  process.exit(0);
}

/** An interpreter that breaks (a trap, a stack overflow of its host) is told in words; Node's own trace would show the host. */
async function answer(run: () => ReturnType<RunLanguage>): Promise<Uint8Array[]> {
  try {
    const { exitCode, changes } = await run();
    const { header, contents } = replyOf(exitCode, changes);
    return encodeMessage(header, contents);
  } catch (error) {
    return encodeMessage({ crash: crashOf(error) } satisfies ChildCrash, []);
  }
}

/** Why an interpreter broke, for the reader of the result. */
export function crashOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  if (/call stack|stack overflow/i.test(message)) return 'its calls were nested too deeply';
  if (/memory|allocation|array length|array buffer/i.test(message)) return 'it ran out of memory';
  return 'the interpreter stopped in an unforeseen way';
}

/** Descriptors 1 and 2 carry what the script prints; what a library has to say would be taken for it. */
function silenceConsole(): void {
  for (const name of ['log', 'info', 'warn', 'error', 'debug', 'trace'] as const) console[name] = () => {};
}

function replyOf(exitCode: number, changes: TreeChanges): { header: ChildReply; contents: Uint8Array[] } {
  const relative = (path: string): string => path.slice(WORKSPACE_PATH.length + 1);
  const within = (path: string): boolean => path.startsWith(`${WORKSPACE_PATH}/`);
  const files = [...changes.files].filter(([path]) => within(path));
  return {
    header: {
      exitCode,
      directories: changes.directories.filter(within).map(relative),
      removed: changes.removed.filter(within).map(relative),
      skipped: changes.skipped.filter(within).map(relative),
      files: files.map(([path, data]) => [relative(path), data.length] as const),
    },
    contents: files.map(([, data]) => data),
  };
}

function readAll(descriptor: number): Uint8Array {
  const chunks: Buffer[] = [];
  let size = 64 * 1024;
  for (;;) {
    const chunk = Buffer.allocUnsafe(size);
    const read = readSync(descriptor, chunk, 0, size, null);
    if (read === 0) return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
    chunks.push(chunk.subarray(0, read));
    if (read === size) size = Math.min(size * 2, 4 * 1024 * 1024);
  }
}

function writeAll(descriptor: number, bytes: Uint8Array): void {
  for (let position = 0; position < bytes.length; ) position += writeSome(descriptor, bytes.subarray(position));
}

const sleeper = new Int32Array(new SharedArrayBuffer(4));

/** A pipe that a library has switched to non-blocking answers EAGAIN while the parent has not read what is in it. */
function writeSome(descriptor: number, bytes: Uint8Array): number {
  try {
    return writeSync(descriptor, bytes);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error;
    Atomics.wait(sleeper, 0, 0, 1);
    return 0;
  }
}
