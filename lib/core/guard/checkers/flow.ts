import * as z from 'zod';
import type { JsonObject } from '../../json.ts';
import type { Checker } from '../decision.ts';
import type { GuardSettings } from './settings.ts';

export const FLOW = 'flow';

/** Tags of calls after which the model may know what is in the workspace or in memory; code can read files too. */
const SOURCES = ['fs.read', 'memory.read', 'code.exec'];
/** The tags among these of what can carry data out: it reaches the network. */
export const sinksOf = (effectTags: readonly string[]): string[] => effectTags.filter((tag) => tag.startsWith('net.'));

const stateSchema = z.object({
  /** Source tags of calls that were dispatched. */
  seen: z.array(z.string()).default([]),
  /** Source tags of calls that passed and may not have been dispatched yet, by call id. */
  passed: z.record(z.string(), z.array(z.string())).default({}),
});
type FlowState = z.infer<typeof stateSchema>;

/**
 * Ours (design 5.1): once a run has read workspace files or memory, a call that can send data out needs a person, or is
 * denied, by `guard.flow`. Isolation alone cannot stop a model from carrying what it read into a URL.
 */
export function flowChecker({ constraints }: GuardSettings): Checker {
  const mode = constraints.guard.flow;
  let state: FlowState = stateSchema.parse({});
  return {
    name: FLOW,
    check: async (_action, { tool, metadata }) => {
      if (!tool || mode === 'off') return ['ALLOW', tool ? 'flow is off' : 'not a tool call'];
      const sinks = sinksOf(tool.effectTags);
      if (sinks.length === 0) return ['ALLOW', 'sends nothing out'];
      Object.assign(metadata, { read_before: [...state.seen] });
      if (state.seen.length === 0) return ['ALLOW', 'nothing was read before'];
      const reason = `flow: ${tool.name} can send data out (${sinks.join(', ')}) and this run has read some (${state.seen.join(', ')})`;
      return [mode === 'deny' ? 'DENY' : 'CONFIRM', reason];
    },
    reset: () => {
      state = stateSchema.parse({});
    },
    save: () => ({ ...state }),
    restore: (saved) => {
      state = stateSchema.parse(saved);
    },
  };
}

/**
 * State at the start of a preflight of the calls in `undispatched`: every other call that passed before has been
 * dispatched since, whatever came of it. `effects` are those the run itself knows of.
 */
export function flowBefore(
  saved: JsonObject | undefined,
  undispatched: readonly string[],
  effects: Readonly<Record<string, number>> = {},
): JsonObject {
  const { seen, passed } = stateSchema.parse(saved ?? {});
  const still = Object.entries(passed).filter(([callId]) => undispatched.includes(callId));
  const gone = Object.entries(passed).flatMap(([callId, tags]) => (undispatched.includes(callId) ? [] : tags));
  return { seen: [...new Set([...seen, ...gone, ...sourcesOf(Object.keys(effects))])].sort(), passed: Object.fromEntries(still) };
}

/** Source tags that a run has seen in all: what it was begun with, and every call that was dispatched since. */
export function flowSeen({
  guard,
  effects,
}: {
  guard: Readonly<Record<string, JsonObject>>;
  effects: Readonly<Record<string, number>>;
}): string[] {
  return stateSchema.parse(flowBefore(guard[FLOW], [], effects)).seen;
}

/** State of a run whose conversation has seen `seen` in earlier runs: their observations stand in its prompt. */
export function flowFrom(seen: readonly string[]): Record<string, JsonObject> {
  return seen.length === 0 ? {} : { [FLOW]: { seen: [...seen], passed: {} } };
}

/** State after a preflight: the calls that passed, with their tags, are on their way. */
export function flowAfter(
  saved: JsonObject | undefined,
  passing: readonly { callId: string; effectTags: readonly string[] }[],
): JsonObject {
  const { seen } = stateSchema.parse(saved ?? {});
  const passed = passing.map(({ callId, effectTags }) => [callId, sourcesOf(effectTags)] as const).filter(([, tags]) => tags.length > 0);
  return { seen, passed: Object.fromEntries(passed) };
}

const sourcesOf = (tags: readonly string[]): string[] => tags.filter((tag) => SOURCES.includes(tag));
