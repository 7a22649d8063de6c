import * as z from 'zod';
import { HandrailError } from '../../core/errors.ts';
import { WORKSPACE } from '../../core/limits.ts';
import type { CodeRequest, CodeResult, CodeRunner } from '../../core/ports/code-runner.ts';
import { findAssets, type SandboxAssets } from './assets.ts';
import { type ChildOutcome, runChild } from './child-process.ts';
import { type ChildRequest, decodeMessage, encodeMessage, splitContents } from './child-protocol.ts';
import type { FileTree, TreeChanges } from './child-tree.ts';
import { RUNNER_LIMITS, type RunnerLimits } from './runner-limits.ts';
import { applyChanges, takeSnapshot } from './snapshot.ts';

export interface CodeRunnerOptions {
  /** @default those beside this code, in a bundle or in the sources */
  readonly assets?: SandboxAssets;
  readonly limits?: Partial<RunnerLimits>;
  /** Told after each child how much memory it took and how long it lived; for tests and benchmarks. */
  readonly onChildEnd?: (facts: { peakBytes: number; ms: number }) => void;
}

/**
 * Runs scripts, each in a fresh process: an interpreter without a bridge to the machine, under Node's permission model,
 * with no environment, bounded memory, time and output. It works on a copy of the session's files; what it changed is
 * written back here, by the workspace's safe writer. Design 6.6.
 */
export function createCodeRunner(options: CodeRunnerOptions = {}): CodeRunner {
  const limits = { ...RUNNER_LIMITS, ...options.limits };
  let assets = options.assets;
  return {
    async run(request) {
      const startedAt = performance.now();
      if (request.signal.aborted) throw abortError(request.signal.reason);
      assets ??= findAssets();
      const before: FileTree = request.workspace ? await takeSnapshot(request.workspace) : new Map();
      const leftMs = request.timeoutMs - (performance.now() - startedAt);
      const childStart = performance.now();
      const outcome = await runChild({
        assets,
        entry: assets.entries[request.language],
        message: messageOf(request, before, assets, limits, leftMs),
        limits,
        timeoutMs: leftMs,
        signal: request.signal,
      });
      options.onChildEnd?.({ peakBytes: outcome.peakBytes, ms: performance.now() - childStart });
      const { exitCode, changes } = replyOf(outcome, request, limits);
      const applied = request.workspace ? await applyChanges(request.workspace, before, changes) : { files: [], problems: [] };
      const notes = applied.problems.slice(0, MAX_NOTES).map((problem) => `[sandbox] not kept: ${problem}\n`);
      return {
        stdout: outcome.stdout.text(),
        stderr: outcome.stderr.text() + notes.join(''),
        exitCode,
        files: applied.files,
      } satisfies CodeResult;
    },
  };
}

const MAX_NOTES = 10;

function messageOf(request: CodeRequest, before: FileTree, assets: SandboxAssets, limits: RunnerLimits, timeoutMs: number): Uint8Array[] {
  const files = [...before].flatMap(([path, file]) => (file === undefined ? [] : [{ path, file }]));
  const header: ChildRequest = {
    code: request.code,
    stdin: request.stdin ?? '',
    timeoutMs: Math.max(1, Math.round(timeoutMs)),
    fileSystemBytes: limits.fileSystemBytes,
    outputBytes: limits.outputBytes,
    vendor: assets.vendor[request.language],
    directories: [...before].flatMap(([path, file]) => (file === undefined ? [path] : [])),
    files: files.map(({ path, file }) => [path, file.data.length, file.modifiedAt]),
  };
  return encodeMessage(
    header,
    files.map(({ file }) => file.data),
  );
}

/** More than a workspace may hold is refused later with a better message; this only bounds the work. */
const pathsSchema = z.array(z.string().min(1).max(8_192)).max(100 * WORKSPACE.files);
const replySchema = z.union([
  z.strictObject({
    exitCode: z.int(),
    directories: pathsSchema,
    removed: pathsSchema,
    skipped: pathsSchema,
    files: z.array(z.tuple([z.string().min(1).max(8_192), z.int().min(0)])).max(100 * WORKSPACE.files),
  }),
  z.strictObject({ crash: z.string() }),
]);

/** What the child answered. HandrailError TIMEOUT, CANCELLED or SANDBOX_CRASHED when it did not, or not properly. */
function replyOf(outcome: ChildOutcome, request: CodeRequest, limits: RunnerLimits): { exitCode: number; changes: TreeChanges } {
  if (outcome.killed !== undefined) throw killedError(outcome, request, limits);
  if (outcome.reply.length === 0) throw diedError(outcome);
  try {
    const { header, rest } = decodeMessage(outcome.reply);
    const reply = replySchema.parse(header);
    if ('crash' in reply) throw crashed(reply.crash, outcome);
    const contents = splitContents(
      reply.files.map(([, bytes]) => bytes),
      rest,
    );
    const files = new Map(reply.files.map(([path], index) => [path, contents[index] ?? new Uint8Array(0)]));
    return { exitCode: reply.exitCode, changes: { ...reply, files } };
  } catch (cause) {
    if (cause instanceof HandrailError) throw cause;
    throw new HandrailError('SANDBOX_CRASHED', 'The sandbox gave an answer that cannot be read. No file was changed.', { cause });
  }
}

function killedError(outcome: ChildOutcome, request: CodeRequest, limits: RunnerLimits): HandrailError {
  switch (outcome.killed) {
    case 'memory':
      return crashed(`it used more than ${Math.round(limits.memoryBytes / 1024 / 1024)} MB of memory`, outcome);
    case 'output':
      return crashed('it wrote far more output than is allowed', outcome);
    case 'aborted':
      return isTimeout(request.signal.reason) ? timeoutError(outcome, request) : abortError(request.signal.reason);
    default:
      return timeoutError(outcome, request);
  }
}

function abortError(reason: unknown): HandrailError {
  return reason instanceof HandrailError ? reason : new HandrailError('CANCELLED', 'The script was stopped. No file was changed.');
}

function timeoutError(outcome: ChildOutcome, request: CodeRequest): HandrailError {
  const seconds = Math.round(request.timeoutMs / 100) / 10;
  return new HandrailError(
    'TIMEOUT',
    `The script did not end within ${seconds} s and was stopped. No file was changed.${lastOutput(outcome)}`,
  );
}

/** A child that ended without an answer: killed by the kernel, or by V8 when memory ran out. */
function diedError(outcome: ChildOutcome): HandrailError {
  if (outcome.exitSignal === 'SIGABRT' || outcome.exitSignal === 'SIGTRAP') return crashed('it ran out of memory', outcome);
  if (outcome.exitSignal === 'SIGXCPU') return crashed('it used up its processor time', outcome);
  if (outcome.exitSignal !== null)
    return crashed(`the process was ended by ${outcome.exitSignal}, most likely for lack of memory`, outcome);
  return crashed('the process ended without an answer', outcome);
}

/** The child's stderr may hold paths and traces of the host by now, so only its stdout is shown. */
function crashed(why: string, outcome: ChildOutcome): HandrailError {
  return new HandrailError('SANDBOX_CRASHED', `The script broke the sandbox: ${why}. No file was changed.${lastOutput(outcome)}`);
}

const SHOWN_BYTES = 400;

function lastOutput(outcome: ChildOutcome): string {
  const end = outcome.stdout.end(SHOWN_BYTES).trim();
  return end === '' ? '' : ` The last of its output: ${end}`;
}

function isTimeout(reason: unknown): boolean {
  return reason instanceof Error && reason.name === 'TimeoutError';
}
