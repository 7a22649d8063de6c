import type { Json } from '../json.ts';
import { jsonBytes } from '../json.ts';
import { BLACKBOARD_BYTES, TREE } from '../limits.ts';
import { failure, type Kept, type Place, type Ready, RUNNING, SUCCESS, type Verdict, type Walk } from './node.ts';
import { definitionOf } from './nodes/index.ts';
import { placesUnder } from './places.ts';
import type { NodeState, TreeState } from './state.ts';

interface WalkInput {
  readonly state: TreeState;
  readonly blackboard: Readonly<Record<string, Json>>;
  readonly untrusted?: ReadonlySet<string>;
  readonly now: number;
  readonly activeMs: number;
  /** Whether what a node keeps in the session has room there; absent: it has. */
  readonly keep?: ((kept: Kept) => string | undefined) | undefined;
  /** Only see how far things are: no condition is judged, nothing is set. */
  readonly looking?: boolean;
}

/** One way through a tree, from the root: what each node has come to, and which leaves are ready. Changes copies only. */
export class TreeWalk implements Walk {
  readonly now: number;
  readonly activeMs: number;
  readonly verdicts = new Map<string, Verdict>();
  readonly warnings: { readonly path: string; readonly message: string }[] = [];
  readonly kept: Kept[] = [];
  readonly #keep: (kept: Kept) => string | undefined;
  readonly #looking: boolean;
  readonly #states: Map<string, NodeState>;
  /** A copy; the keys that nodes may write exclude `__proto__`, so none reaches for a prototype. */
  readonly #blackboard: Record<string, Json>;
  readonly #untrusted: Set<string>;
  #blackboardBytes: number | undefined;
  #ready: Ready[] = [];
  #covers = 0;

  constructor({ state, blackboard, untrusted = new Set(), now, activeMs, keep = () => undefined, looking = false }: WalkInput) {
    this.#keep = keep;
    this.now = now;
    this.activeMs = activeMs;
    this.#looking = looking;
    this.#states = new Map(Object.entries(state));
    this.#blackboard = { ...blackboard };
    this.#untrusted = new Set(untrusted);
  }

  /** Goes through the tree anew; what was noted and written before stays. */
  from(root: Place): Verdict {
    this.#ready = [];
    this.#covers = 0;
    return this.visit(root);
  }

  get blackboard(): Readonly<Record<string, Json>> {
    return this.#blackboard;
  }

  get untrusted(): ReadonlySet<string> {
    return this.#untrusted;
  }

  get state(): TreeState {
    return Object.fromEntries(this.#states);
  }

  get ready(): readonly Ready[] {
    return this.#ready;
  }

  visit(place: Place): Verdict {
    const verdict = definitionOf(place.node.type)?.visit(place, this) ?? failure(place, `there is no node type "${place.node.type}"`);
    this.verdicts.set(place.path, verdict);
    return verdict;
  }

  visitCovered(place: Place): Verdict {
    this.#covers += 1;
    const verdict = this.visit(place);
    this.#covers -= 1;
    return verdict;
  }

  isCovered(): boolean {
    return this.#covers > 0;
  }

  own({ path }: Place): NodeState {
    return this.#states.get(path) ?? {};
  }

  note({ path }: Place, state: NodeState): void {
    this.#states.set(path, state);
  }

  forget(place: Place): void {
    for (const below of placesUnder(place)) {
      const kept = definitionOf(below.node.type)?.onForget?.(this.own(below));
      this.verdicts.delete(below.path);
      if (kept) this.#states.set(below.path, kept);
      else this.#states.delete(below.path);
    }
  }

  settled(place: Place): Verdict | undefined {
    const { status, error = '', failedAt = place.path } = this.own(place);
    if (status === undefined) return undefined;
    // Whoever looks wants to see what is under it as well.
    if (this.#looking) for (const child of place.children) this.visit(child);
    return status === 'success' ? SUCCESS : { status, error: { path: failedAt, message: error } };
  }

  settle(place: Place, verdict: Verdict): Verdict {
    if (verdict.status === 'success') this.note(place, { ...this.own(place), status: 'success' });
    if (verdict.status !== 'failure') return verdict;
    const { path, message } = verdict.error;
    this.note(place, { ...this.own(place), ...failedState(message), ...(path === place.path ? {} : { failedAt: path }) });
    return verdict;
  }

  once(place: Place, act: () => string | undefined): Verdict {
    const settled = this.settled(place);
    if (settled) return settled;
    if (this.#looking) return RUNNING;
    const problem = act();
    return this.settle(place, problem === undefined ? SUCCESS : failure(place, problem));
  }

  leaf(ready: Ready): Verdict {
    return this.settled(ready.place) ?? this.ask(ready);
  }

  ask(ready: Ready): Verdict {
    this.#ready.push(ready);
    return RUNNING;
  }

  write(key: string, value: Json, untrusted: boolean): string | undefined {
    const before = Object.hasOwn(this.#blackboard, key) ? this.#blackboard[key] : undefined;
    this.#blackboardBytes ??= jsonBytes(this.#blackboard);
    const bytes = this.#blackboardBytes + entryBytes(key, value) - (before === undefined ? 0 : entryBytes(key, before));
    if (bytes > BLACKBOARD_BYTES)
      return `RESOURCE_EXHAUSTED: the blackboard holds at most ${BLACKBOARD_BYTES} bytes, with "${key}" it would be ${bytes}`;
    this.#blackboardBytes = bytes;
    this.#blackboard[key] = value;
    if (untrusted) this.#untrusted.add(key);
    else this.#untrusted.delete(key);
    return undefined;
  }

  keep(kept: Kept): string | undefined {
    this.kept.push(kept);
    return this.#keep(kept);
  }

  warn({ path }: Place, message: string): void {
    this.warnings.push({ path, message });
  }

  mark(): number {
    return this.#ready.length;
  }

  drop(mark: number): void {
    this.#ready.length = mark;
  }

  capWaits(mark: number, ms: number): void {
    this.#ready = this.#ready.map((ready, index) => (index >= mark && ready.kind === 'wait' && ready.ms > ms ? { ...ready, ms } : ready));
  }
}

export function failedState(message: string): NodeState {
  return { status: 'failure', error: message.slice(0, TREE.errorCharacters).toWellFormed() };
}

/** With its comma and colon. */
function entryBytes(key: string, value: Json): number {
  return jsonBytes(key) + jsonBytes(value) + 2;
}

/** How far a tree is by its state alone, by path: nodes that were not reached are missing. Nothing is carried out. */
export function look(root: Place, state: TreeState): ReadonlyMap<string, Verdict> {
  const walk = new TreeWalk({ state, blackboard: {}, now: 0, activeMs: 0, looking: true });
  walk.from(root);
  return walk.verdicts;
}
