import { HandrailError } from '../errors.ts';
import type { ToolResult } from '../hands/result.ts';
import { type Json, jsonBytes } from '../json.ts';
import { BLACKBOARD_BYTES, INLINE_BOARD_BYTES, INLINE_VALUE_BYTES } from '../limits.ts';
import { previewOf } from '../preview.ts';
import { complete, decideApproval } from '../trees/tick.ts';
import type { Tree } from '../trees/tree.ts';
import type { TreeSkill } from './deps.ts';
import type { OpenCall, TreeFrame } from './frames.ts';
import { APPROVE_NODE } from './message.ts';
import { emit, type Step, say, transcript } from './step.ts';
import { readStored, type StoredValue } from './stored-value.ts';

/** The blackboard whole: small values from the frame, large ones from its messages (design 3.2). */
export async function readBoard(step: Step, frame: TreeFrame): Promise<Record<string, Json>> {
  const entries = Object.entries(frame.blackboard);
  const said = new Map<string, Json>();
  if (entries.some(([, entry]) => 'stored' in entry && entry.at === undefined))
    for (const { message } of await transcript(step, frame)) if (message.role === 'value') said.set(message.key, message.value);
  const elsewhere = entries.flatMap(([key, entry]): [string, StoredValue][] =>
    'stored' in entry && entry.at !== undefined ? [[key, { stored: entry.stored, at: entry.at }]] : [],
  );
  const stored = await readStored(step.deps.runs, step.run, Object.fromEntries(elsewhere));
  return Object.fromEntries(
    entries.map(([key, entry]) => [
      key,
      'value' in entry ? entry.value : entry.at === undefined ? (said.get(key) ?? null) : (stored[key] ?? null),
    ]),
  );
}

/** Keys of values that strangers wrote, or some part of. */
export function untrustedKeys({ blackboard }: TreeFrame): ReadonlySet<string> {
  return new Set(Object.entries(blackboard).flatMap(([key, { untrusted }]) => (untrusted ? [key] : [])));
}

function inlineBytes(frame: TreeFrame, except: string): number {
  return Object.entries(frame.blackboard).reduce(
    (sum, [key, entry]) => (key === except || 'stored' in entry ? sum : sum + jsonBytes(entry.value)),
    0,
  );
}

/** A value of this size stands in the frame itself. */
export function standsInFrame(frame: TreeFrame, key: string, bytes: number): boolean {
  return bytes <= INLINE_VALUE_BYTES && inlineBytes(frame, key) + bytes <= INLINE_BOARD_BYTES;
}

/** Sets a value. Over 4 KiB, or where many small ones are already, it becomes a message; beyond 1 MB in all the node fails: HandrailError RESOURCE_EXHAUSTED. */
export function writeBoard(step: Step, frame: TreeFrame, key: string, value: Json, untrusted: boolean): void {
  const bytes = jsonBytes(value);
  const others = Object.entries(frame.blackboard).reduce(
    (sum, [name, entry]) => (name === key ? sum : sum + ('stored' in entry ? entry.stored : jsonBytes(entry.value))),
    0,
  );
  if (others + bytes > BLACKBOARD_BYTES)
    throw new HandrailError(
      'RESOURCE_EXHAUSTED',
      `the blackboard would hold over ${BLACKBOARD_BYTES} bytes with "${key}" (${bytes} bytes)`,
    );
  const mark = untrusted ? { untrusted } : {};
  if (standsInFrame(frame, key, bytes)) frame.blackboard[key] = { value, ...mark };
  else {
    say(step, frame, { role: 'value', key, value });
    frame.blackboard[key] = { stored: bytes, ...mark };
  }
}

const policiesOf = (step: Step): string => step.inputs.policies.map(({ version, updatedAt }) => `${version}@${updatedAt}`).join();

/** An approval before its child is asked now: what is in force now it may stand for. */
export function noteAsked(step: Step, frame: TreeFrame, path: string): void {
  const own = Object.hasOwn(frame.state, path) ? frame.state[path] : {};
  frame.state = { ...frame.state, [path]: { ...own, asked: policiesOf(step) } };
}

/** An approval over the node was asked under the live policies of this moment, and given. */
export function isAskedUnder(step: Step, frame: TreeFrame, path: string): boolean {
  const now = policiesOf(step);
  return Object.entries(frame.state).some(
    ([over, { before, asked }]) => path.startsWith(`${over}/`) && before === 'approved' && asked === now,
  );
}

/** Takes the result of a call of the tree's batch. */
export function completeCall(step: Step, frame: TreeFrame, call: OpenCall, result: ToolResult, untrusted: boolean): void {
  // A tree that a deployment took away cannot go on, but its run must still be able to end.
  if (call.path === undefined || !step.deps.trees?.has(frame.skill)) return;
  if (call.tool === APPROVE_NODE)
    frame.state = decideApproval(
      treeOf(step, frame),
      frame.state,
      nodeOf(call.path),
      phaseOf(call.path),
      result.success ? 'approved' : 'rejected',
    );
  else completeNode(step, frame, call.path, result, untrusted);
}

/** Records what a tool, LLM or agent node came to, and its value on the blackboard. `untrusted`: as of `observe`. */
export function completeNode(step: Step, frame: TreeFrame, path: string, result: ToolResult, untrusted: boolean): void {
  if (untrusted) frame.untrusted = true;
  const tree = treeOf(step, frame);
  const value = valueIn(result.data);
  const error = result.error ? `${result.error.code}: ${result.error.message}` : undefined;
  const done = complete(
    tree,
    frame.state,
    path,
    result.success ? { status: 'success', value } : { status: 'failure', error: error ?? 'failed' },
  );
  frame.state = done.state;
  emit(step, 'bt.skill.node.io', {
    skill: frame.skill,
    frame: frame.namespace,
    stage: 'completed',
    node: path,
    tool_name: result.metadata.toolName,
    ok: result.success,
    output_preview: previewOf(result.success ? value : (error ?? '')),
  });
  if (!result.success || done.outputKey === undefined) return;
  try {
    writeBoard(step, frame, done.outputKey, value, untrusted);
  } catch (thrown) {
    if (!(thrown instanceof HandrailError)) throw thrown;
    frame.state = complete(tree, frame.state, path, { status: 'failure', error: `${thrown.code}: ${thrown.message}` }).state;
  }
}

/** The tree of a frame. HandrailError INTERNAL when a deployment took its skill away. */
export function treeOf(step: Step, frame: TreeFrame): Tree {
  return skillOf(step, frame).tree;
}

export function skillOf(step: Step, frame: TreeFrame): TreeSkill {
  const skill = step.deps.trees?.get(frame.skill);
  if (!skill) throw new HandrailError('INTERNAL', `the tree skill "${frame.skill}" is not there any more`);
  return skill;
}

/** JSON where it is JSON, else text. */
function valueIn(data: string | undefined): Json {
  if (data === undefined) return null;
  try {
    return JSON.parse(data) as Json;
  } catch {
    return data;
  }
}

const PHASES = { before: '@before', after: '@after' } as const;
export const approvalPath = (path: string, phase: 'before' | 'after'): string => `${path}${PHASES[phase]}`;
const nodeOf = (path: string): string => path.replace(/@(?:before|after)$/, '');
const phaseOf = (path: string): 'before' | 'after' => (path.endsWith(PHASES.after) ? 'after' : 'before');
