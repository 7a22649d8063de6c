import { HandrailError } from '../errors.ts';
import { type JsonObject, jsonBytes } from '../json.ts';
import { RESULT_BYTES, STAGE_BYTES, STAGE_CALLS } from '../limits.ts';
import type { PreviousResult } from './call.ts';
import type { ToolDefinition } from './define-tool.ts';
import { cutText } from './text.ts';

export type ExecutionMode = 'auto' | 'serial' | 'parallel';

export interface PlannedCall {
  readonly callId: string;
  readonly definition: Pick<ToolDefinition, 'name' | 'after' | 'parallelSafe'>;
}

/**
 * The stage of each call of a batch, in the order given; stages run one after another (seed 004 section 6, design 6.4).
 * `auto` is parallel only when there are several calls, all `parallelSafe`, and no `after` edge between them. Serial: one stage
 * per call. In every mode a call that pushes a frame is a stage of its own, in order (design 3.6).
 * Throws INVALID_ARGUMENTS naming the calls when `after` edges form a circle.
 */
export function planStages(
  calls: readonly PlannedCall[],
  mode: ExecutionMode,
  pushesFrame: (call: PlannedCall) => boolean = () => false,
): number[] {
  const needs = calls.map((call, index) => needsOf(call, index, calls));
  const order = inOrder(calls, needs);
  const calm = calls.length > 1 && calls.every(({ definition }) => definition.parallelSafe) && needs.every((list) => list.length === 0);
  const parallel = mode === 'parallel' || (mode === 'auto' && calm);
  const stages = calls.map(() => 0);
  /** First stage that a call may join, and first one that is still empty. */
  let floor = 0;
  let next = 0;
  for (const index of order) {
    const call = calls[index];
    const alone = !parallel || (call !== undefined && pushesFrame(call));
    const afterNeeds = Math.max(floor, ...(needs[index] ?? []).map((need) => (stages[need] ?? 0) + 1));
    const stage = alone ? next : afterNeeds;
    stages[index] = stage;
    next = Math.max(next, stage + 1);
    if (alone) floor = next;
  }
  return stages;
}

/** Calls that must be observed before this one. A tool named in its own `after` follows the earlier calls of itself. */
function needsOf(call: PlannedCall, index: number, calls: readonly PlannedCall[]): number[] {
  const { name, after } = call.definition;
  return calls.flatMap(({ definition }, other) =>
    after.includes(definition.name) && (definition.name !== name || other < index) ? [other] : [],
  );
}

/** Indices so that needs come first; among those that may go, the earliest asked for goes. */
function inOrder(calls: readonly PlannedCall[], needs: readonly (readonly number[])[]): number[] {
  const order: number[] = [];
  const placed = new Set<number>();
  while (order.length < calls.length) {
    const index = calls.findIndex((_, candidate) => !placed.has(candidate) && (needs[candidate] ?? []).every((need) => placed.has(need)));
    if (index < 0) throw cycleError(calls, needs, placed);
    placed.add(index);
    order.push(index);
  }
  return order;
}

/** Every call that is left needs another that is left: following needs from any of them ends in the circle. */
function cycleError(calls: readonly PlannedCall[], needs: readonly (readonly number[])[], placed: ReadonlySet<number>): HandrailError {
  const trail: number[] = [];
  let index = calls.findIndex((_, candidate) => !placed.has(candidate));
  while (!trail.includes(index)) {
    trail.push(index);
    index = (needs[index] ?? []).find((need) => !placed.has(need)) ?? index;
  }
  const circle = trail.slice(trail.indexOf(index)).sort((a, b) => a - b);
  const names = circle.map((place) => `${calls[place]?.callId} (${calls[place]?.definition.name})`).join(', ');
  return new HandrailError('INVALID_ARGUMENTS', `calls that wait for each other in a circle: ${names}; make them in separate messages`);
}

/** A result of an earlier stage, with the category of its tool. */
export interface EarlierResult extends PreviousResult {
  readonly category: string;
}

/** What a call is given of the earlier stages of its batch: results of its own category or of tools its `after` names (design 6.4). */
export function previousResultsFor(
  definition: Pick<ToolDefinition, 'category' | 'after'>,
  earlier: readonly EarlierResult[],
): PreviousResult[] {
  return earlier
    .filter(({ category, tool }) => category === definition.category || definition.after.includes(tool))
    .map(({ callId, tool, result }) => ({ callId, tool, result }));
}

/** UTF-8 bytes of JSON-escaped text that each of `count` results of a stage may take (design 3.5). */
export function resultBudget(count: number): number {
  return Math.min(RESULT_BYTES, Math.floor(STAGE_BYTES / Math.max(1, count)));
}

interface StageCall {
  readonly arguments: JsonObject;
  readonly previousResults?: readonly PreviousResult[] | undefined;
}

/**
 * A stage cut into stages of at most 50 calls whose arguments and `previousResults` stay under `limit` bytes, in order (design
 * 3.5). A call that is too large alone keeps its arguments and the newest of its `previousResults`.
 */
export function splitStage<Item extends StageCall>(calls: readonly Item[], limit = STAGE_BYTES): Item[][] {
  const stages: Item[][] = [];
  let bytes = 0;
  for (const call of calls) {
    const fitting = cutPreviousResults(call, limit);
    const size = jsonBytes(fitting.arguments) + jsonBytes(fitting.previousResults ?? []);
    const stage = stages.at(-1);
    if (stage && stage.length < STAGE_CALLS && bytes + size <= limit) {
      stage.push(fitting);
      bytes += size;
    } else {
      stages.push([fitting]);
      bytes = size;
    }
  }
  return stages;
}

const CUT_NOTE = '\n\n... (cut: it did not fit beside the arguments of this call)';
/** What one result takes besides its text: ids, metadata, punctuation. */
const ENVELOPE_BYTES = 600;

function cutPreviousResults<Item extends StageCall>(call: Item, limit: number): Item {
  const { previousResults } = call;
  let left = limit - jsonBytes(call.arguments) - 2;
  if (previousResults === undefined || jsonBytes(previousResults) <= left) return call;
  const kept: PreviousResult[] = [];
  for (const previous of previousResults.toReversed()) {
    const whole = jsonBytes(previous) + 1;
    if (whole <= left) kept.push(previous);
    else if (left > ENVELOPE_BYTES && previous.result.data !== undefined)
      kept.push(cutResult(previous, previous.result.data, left - ENVELOPE_BYTES));
    left -= whole;
    if (left <= 0) break;
  }
  return { ...call, previousResults: kept.reverse() };
}

function cutResult({ callId, tool, result }: PreviousResult, data: string, budget: number): PreviousResult {
  const { success, metadata } = result;
  return { callId, tool, result: { success, data: cutText(data, budget, CUT_NOTE).text, metadata: { ...metadata, truncated: true } } };
}
