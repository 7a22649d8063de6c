import { type Json, jsonBytes } from '../json.ts';
import { INLINE_VALUE_BYTES, SESSION_STATE } from '../limits.ts';
import type { RunStore, SessionKey } from '../ports/run-store.ts';
import type { Kept } from '../trees/node.ts';
import type { Run } from './run.ts';
import { isTerminal } from './run-status.ts';
import type { Session } from './session.ts';
import type { Step } from './step.ts';
import { readStored, type StoredValue, valuePrefix } from './stored-value.ts';

/** What the runs of a session share, or one of them adds: small values in place, large ones where they are stored. A key is in one of the two. */
interface SharedState {
  readonly state: Readonly<Record<string, Json>>;
  readonly stored: Readonly<Record<string, StoredValue>>;
}

type Holder = Pick<Run, 'status' | 'stateChanges' | 'storedChanges'>;

/** A session's state, with what the run that holds it has added once that has ended: it is merged when the next one begins. */
export function stateOf(session: Pick<Session, 'state' | 'stored'> | undefined, holder?: Holder): SharedState {
  const state: SharedState = { state: session?.state ?? {}, stored: session?.stored ?? {} };
  return holder && isTerminal(holder) ? merged(state, changesOf(holder)) : state;
}

/** The values themselves of `names`, by default of all. */
export async function readState(
  runs: Pick<RunStore, 'readTranscript'>,
  session: SessionKey,
  { state, stored }: SharedState,
  names: readonly string[] = [...Object.keys(state), ...Object.keys(stored)],
): Promise<Record<string, Json>> {
  const { state: small, stored: large } = only({ state, stored }, (key) => names.includes(key));
  return { ...small, ...(await readStored(runs, session, large)) };
}

/** The session's state as its active run sees it: `names` of it. */
export async function readOwnState(step: Step, names: readonly string[]): Promise<Record<string, Json>> {
  if (names.length === 0) return {};
  const { run, deps } = step;
  const known = merged(stateOf(await deps.runs.getSession(run)), changesOf(run));
  // A value of this very step is written with its commit only.
  const fresh = only(known, (key) => !step.values.some((_value, n) => known.stored[key]?.at === valuePrefix(run, n)));
  const values = Object.fromEntries(step.values.filter(({ key }) => names.includes(key)).map(({ key, value }) => [key, value]));
  return { ...values, ...(await readState(deps.runs, run, fresh, names)) };
}

/** Takes what a tick keeps for later runs of the session; it rides in the run until that has ended. */
interface SessionKeeper {
  /** Why the value has no room, or nothing: then it is kept, once all is done. */
  readonly keep: (kept: Kept) => string | undefined;
  readonly done: () => void;
}

export async function sessionKeeper(step: Step): Promise<SessionKeeper> {
  const { run } = step;
  const before = stateOf(await step.deps.runs.getSession(run));
  let changes = changesOf(run);
  const values: Kept[] = [];
  return {
    keep({ key, value }) {
      const others = only(merged(before, changes), (name) => name !== key);
      const mine = only(changes, (name) => name !== key);
      const bytes = jsonBytes(value);
      const problem = problemOf(others, bytes);
      if (problem !== undefined) return problem;
      if (standsInPlace(others, mine, bytes)) changes = { ...mine, state: { ...mine.state, [key]: value } };
      else {
        const at = valuePrefix(run, step.values.length + values.length);
        values.push({ key, value });
        changes = { ...mine, stored: { ...mine.stored, [key]: { stored: bytes, at } } };
      }
      return undefined;
    },
    done() {
      step.values.push(...values);
      run.stateChanges = { ...changes.state };
      if (Object.keys(changes.stored).length > 0) run.storedChanges = { ...changes.stored };
      else delete run.storedChanges;
    },
  };
}

function standsInPlace(others: SharedState, mine: SharedState, bytes: number): boolean {
  const { inlineBytes, ridingBytes } = SESSION_STATE;
  return bytes <= INLINE_VALUE_BYTES && jsonBytes(others.state) + bytes <= inlineBytes && jsonBytes(mine.state) + bytes <= ridingBytes;
}

function problemOf({ state, stored }: SharedState, bytes: number): string | undefined {
  const sizes = Object.values(stored).map((value) => value.stored);
  const all = sizes.reduce((sum, size) => sum + size, jsonBytes(state) + bytes);
  if (all > SESSION_STATE.bytes)
    return `RESOURCE_EXHAUSTED: the session's state holds at most ${SESSION_STATE.bytes} bytes, with this value it would be ${all}`;
  if (Object.keys(state).length + sizes.length >= SESSION_STATE.keys)
    return `RESOURCE_EXHAUSTED: the session's state holds at most ${SESSION_STATE.keys} values`;
  return undefined;
}

const changesOf = ({ stateChanges, storedChanges = {} }: Pick<Holder, 'stateChanges' | 'storedChanges'>): SharedState => ({
  state: stateChanges,
  stored: storedChanges,
});

function merged(before: SharedState, changes: SharedState): SharedState {
  const kept = only(before, (key) => !Object.hasOwn(changes.state, key) && !Object.hasOwn(changes.stored, key));
  return { state: { ...kept.state, ...changes.state }, stored: { ...kept.stored, ...changes.stored } };
}

function only({ state, stored }: SharedState, wanted: (key: string) => boolean): SharedState {
  const pick = <T>(values: Readonly<Record<string, T>>) => Object.fromEntries(Object.entries(values).filter(([key]) => wanted(key)));
  return { state: pick(state), stored: pick(stored) };
}
