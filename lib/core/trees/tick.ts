import { HandrailError } from '../errors.ts';
import type { Json } from '../json.ts';
import {
  type AgentRequest,
  type ApprovalPhase,
  type ApprovalRequest,
  failure,
  type Kept,
  type LlmRequest,
  type NodeError,
  type Place,
  type Ready,
  type ToolRequest,
} from './node.ts';
import { timeoutMessage } from './nodes/timeout.ts';
import { nodePaths, placesUnder, rootPlace, type Tree } from './places.ts';
import type { TreeState } from './state.ts';
import { failedState, look, TreeWalk } from './walk.ts';

/** What a tree wants next: the first of these that there is (design section 8). */
export type Next =
  | { readonly kind: 'tools'; readonly calls: readonly ToolRequest[] }
  | ({ readonly kind: 'llm' } & LlmRequest)
  | ({ readonly kind: 'agent' } & AgentRequest)
  | { readonly kind: 'approvals'; readonly items: readonly ApprovalRequest[] }
  /** Until the shortest delay is over, or a timeout above it. */
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'done'; readonly status: 'success' | 'failure'; readonly error?: NodeError };

export interface TickInput {
  readonly tree: Tree;
  readonly state: TreeState;
  readonly blackboard: Readonly<Record<string, Json>>;
  /** Keys of the blackboard that strangers wrote, or some part of. */
  readonly untrusted?: ReadonlySet<string>;
  /** ms since 1970. */
  readonly now: number;
  /** Active time of the run so far, ms. */
  readonly activeMs: number;
  /** Why what a node keeps in the session has no room there; absent: it has. */
  readonly keep?: (kept: Kept) => string | undefined;
}

export interface Tick {
  readonly next: Next;
  readonly state: TreeState;
  /** With what `set` nodes wrote. */
  readonly blackboard: Record<string, Json>;
  /** What nodes wanted to keep for later runs of the session, in order. */
  readonly kept: readonly Kept[];
  readonly untrusted: ReadonlySet<string>;
  readonly warnings: readonly { readonly path: string; readonly message: string }[];
}

/**
 * One pass over a tree, from the root: carries out the `condition` and `set` nodes that are due, then says what is to be done by
 * others. Pure; the same input gives the same answer. Inputs and prompts are read from the blackboard as it is at the end.
 */
export function tick({ tree, ...input }: TickInput): Tick {
  const root = rootPlace(tree);
  const walk = new TreeWalk(input);
  let next: Next | undefined;
  while (next === undefined) {
    const verdict = walk.from(root);
    if (verdict.status === 'running') next = handOut(walk);
    else next = { kind: 'done', status: verdict.status, ...(verdict.status === 'failure' ? { error: verdict.error } : {}) };
  }
  const { state, kept, untrusted, warnings } = walk;
  return { next, state, blackboard: { ...walk.blackboard }, kept, untrusted, warnings };
}

/** Undefined when a leaf failed at being handed out: the tree goes on from there. */
function handOut(walk: TreeWalk): Next | undefined {
  const of = <Kind extends Ready['kind']>(kind: Kind) =>
    walk.ready.filter((ready): ready is Extract<Ready, { kind: Kind }> => ready.kind === kind);
  const tools = of('tool');
  if (tools.length > 0) return { kind: 'tools', calls: tools.map((ready) => ready.handOut()) };
  const [llm] = of('llm');
  if (llm) return attempt(walk, llm.place, () => ({ kind: 'llm', ...llm.handOut() }));
  const [agent] = of('agent');
  if (agent) return attempt(walk, agent.place, () => ({ kind: 'agent', ...agent.handOut() }));
  const approvals = of('approval');
  if (approvals.length > 0) return { kind: 'approvals', items: approvals.map((ready) => ready.handOut()) };
  const waits = of('wait').map(({ ms }) => ms);
  if (waits.length === 0) throw new HandrailError('INTERNAL', 'a tree is running, and nothing in it is ready');
  return { kind: 'wait', ms: Math.min(...waits) };
}

function attempt(walk: TreeWalk, place: Place, act: () => Next): Next | undefined {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof HandrailError)) throw error;
    walk.settle(place, failure(place, error.message));
    return undefined;
  }
}

/** How a leaf that was handed out has ended. */
export interface Outcome {
  readonly status: 'success' | 'failure';
  readonly value?: Json;
  readonly error?: string;
}

/**
 * Records the end of a tool, llm or agent node. `outputKey`: where its value goes on the blackboard, on success with a value.
 * Throws INTERNAL for a path that is no such node.
 */
export function complete(
  tree: Tree,
  state: TreeState,
  path: string,
  outcome: Outcome,
): { readonly state: TreeState; readonly outputKey?: string } {
  const node = nodePaths(tree).get(path)?.node;
  if (node === undefined || !isHandedOut(node)) throw new HandrailError('INTERNAL', `"${path}" is no tool, llm or agent node of this tree`);
  if (outcome.status === 'failure') return { state: { ...state, [path]: failedState(outcome.error ?? 'failed') } };
  const { output_key: outputKey } = node;
  const next: TreeState = { ...state, [path]: { status: 'success' } };
  return outputKey === undefined || outcome.value === undefined ? { state: next } : { state: next, outputKey };
}

function isHandedOut(node: { readonly type: string }): node is { readonly type: string; readonly output_key?: string } {
  return ['tool', 'llm', 'agent'].includes(node.type);
}

/** Records what a person decided about an approval node. An approval that expired is a rejection too. Throws INTERNAL for another node. */
export function decideApproval(
  tree: Tree,
  state: TreeState,
  path: string,
  phase: ApprovalPhase,
  decision: 'approved' | 'rejected',
): TreeState {
  if (nodePaths(tree).get(path)?.node.type !== 'approval')
    throw new HandrailError('INTERNAL', `"${path}" is no approval node of this tree`);
  const own = Object.hasOwn(state, path) ? state[path] : {};
  return { ...state, [path]: { ...own, [phase]: decision } };
}

/**
 * Fails the timeout nodes whose time is over, for a tree that cannot be ticked now because a frame lies on it; `expired` are their
 * paths, outer ones first. What lies under them is to be given up. A tick does the same by itself.
 */
export function expireTimeouts(
  tree: Tree,
  state: TreeState,
  activeMs: number,
): { readonly state: TreeState; readonly expired: readonly string[] } {
  const root = rootPlace(tree);
  const verdicts = look(root, state);
  const next: TreeState = { ...state };
  const expired: string[] = [];
  for (const { path, node } of placesUnder(root)) {
    const own = Object.hasOwn(state, path) ? state[path] : undefined;
    if (!isTimeout(node) || own?.started === undefined || own.status !== undefined) continue;
    if (verdicts.get(path)?.status !== 'running' || activeMs - own.started < node.ms) continue;
    next[path] = { ...own, ...failedState(timeoutMessage(node.ms)) };
    expired.push(path);
  }
  return { state: next, expired };
}

function isTimeout(node: { readonly type: string }): node is { readonly type: 'timeout'; readonly ms: number } {
  return node.type === 'timeout';
}
