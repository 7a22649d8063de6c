import { type Code, HandrailError } from '../errors.ts';
import type { ToolResult } from '../hands/result.ts';
import { cleanText, cutText } from '../hands/text.ts';
import { FRAME_DEPTH, RESULT_BYTES } from '../limits.ts';
import { previewOf } from '../preview.ts';
import type { Frame } from './frames.ts';
import { closeBatch, observe, refuse } from './observe.ts';
import { activeMs, emit, openCalls, type Step, topFrame } from './step.ts';
import { completeNode } from './tree-board.ts';

const NAMESPACE_CHARACTERS = 200;
const RESULT_CUT = '\n\n... (the result was too long and is cut here)';

/** Another frame may be pushed (design 3.6: at most 3 deep). */
export const mayPush = (step: Step): boolean => step.run.frames.length < FRAME_DEPTH;

/** `skill_runtime.<name>_<path>_<callId>`, of characters that keys may have. */
export function namespaceOf(name: string, path: string, callId: string): string {
  const told = `skill_runtime.${[name, path].filter(Boolean).join('_')}`.replace(/[^A-Za-z0-9_.-]/g, '-');
  // Paths may be long, and only the call tells one frame from another.
  return `${told.slice(0, NAMESPACE_CHARACTERS - callId.length - 1)}_${callId}`;
}

/** Puts a frame on top: it decides from now on, and its result answers what opened it. */
export function pushFrame(step: Step, frame: Frame): void {
  step.run.frames.push({ ...frame, since: activeMs(step) });
  emit(step, 'frame.started', { frame: frame.namespace, kind: frame.kind, name: frame.kind === 'tree' ? frame.skill : frame.agent });
}

/**
 * Takes the top frame off; `result` is the observation of the call, or the outcome of the node, that opened it. Whatever
 * is still open in it is answered. On failure a snapshot for debugging stands in the event. `untrusted`: as of `observe`.
 */
export async function endFrame(step: Step, result: ToolResult, untrusted: boolean): Promise<void> {
  const frame = topFrame(step.run);
  for (const call of openCalls(frame))
    observe(step, frame, call, refuse(step, call, new HandrailError('CANCELLED', 'its frame ended; this call did not run')));
  closeBatch(frame);
  step.run.frames.pop();
  step.ended.push(frame);
  const parent = topFrame(step.run);
  emit(step, 'frame.ended', {
    frame: frame.namespace,
    success: result.success,
    ...(result.success ? {} : { error: previewOf(result.error?.message ?? ''), snapshot: snapshotOf(frame) }),
  });
  if (frame.path !== undefined && parent.kind === 'tree') completeNode(step, parent, frame.path, result, untrusted);
  const call = openCalls(parent).find(({ callId }) => callId === frame.callId);
  if (call) observe(step, parent, call, inResultBudget(result), untrusted);
  closeBatch(parent);
}

/** As an observation it is held to what any tool's result is. */
function inResultBudget(result: ToolResult): ToolResult {
  const { data, metadata } = result;
  if (data === undefined) return result;
  const { text, cut } = cutText(cleanText(data), RESULT_BYTES, RESULT_CUT);
  return { ...result, data: text, metadata: { ...metadata, truncated: metadata.truncated || cut } };
}

/** Ends the top frame, which is not the root, with an error. `untrusted`: the message is not, or not only, ours. */
export async function failedFrame(step: Step, code: Code, message: string, untrusted = false): Promise<void> {
  const frame = topFrame(step.run);
  const name = frame.kind === 'tree' ? frame.skill : frame.agent;
  await endFrame(step, refuse(step, { tool: name }, new HandrailError(code, message)), untrusted);
}

function snapshotOf(frame: Frame): string {
  const { usage: _usage, constraints: _constraints, head: _head, ...rest } = frame;
  return previewOf(rest);
}
