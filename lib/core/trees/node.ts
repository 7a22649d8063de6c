import type * as z from 'zod';
import type { Constraints } from '../guard/constraints.ts';
import type { Json, JsonObject } from '../json.ts';
import type { NodeState } from './state.ts';

/** What a node has come to. A failure is data: it names the node it began at. */
export type Verdict =
  | { readonly status: 'running' }
  | { readonly status: 'success' }
  | { readonly status: 'failure'; readonly error: NodeError };

export interface NodeError {
  readonly path: string;
  readonly message: string;
}

export const RUNNING: Verdict = { status: 'running' };
export const SUCCESS: Verdict = { status: 'success' };

/** A node where it stands: its path, and the places of its children. */
export interface Place<Fields = { readonly type: string }> {
  readonly path: string;
  readonly node: Fields;
  readonly children: readonly Place[];
}

/** A tool node that may run now. */
export interface ToolRequest {
  readonly path: string;
  readonly tool: string;
  readonly input: JsonObject;
  /** It stands under an `approval` (before or both) that a person has given. */
  readonly covered: boolean;
}

/** One LLM call. `schema`: the answer must be JSON that fits. */
export interface LlmRequest {
  readonly path: string;
  readonly prompt: string;
  readonly system?: string;
  readonly schema?: JsonObject;
  readonly outputKey?: string;
  /** Strangers wrote some of it, marked as such: the answer may repeat that. */
  readonly untrusted: boolean;
}

/** What an `agent` node says about the frame it opens; the keys are those of the tree file. */
interface AgentSettings {
  readonly agent?: string | undefined;
  readonly skills?: readonly string[] | undefined;
  readonly history_limit?: number | undefined;
  readonly output_key?: string | undefined;
  readonly constraints?: Constraints | undefined;
}

/** An agent frame to push. `seedMessages` have their placeholders filled in. */
export interface AgentRequest {
  readonly path: string;
  readonly node: AgentSettings;
  readonly task: string;
  readonly seedMessages: readonly { readonly role: 'user' | 'assistant'; readonly content: string }[];
  /** As of an LLM call. */
  readonly untrusted: boolean;
}

export type ApprovalPhase = 'before' | 'after';

/** A question to a person. `attempt` grows whenever a retry starts the part of the tree around it anew, so no answer serves twice. */
export interface ApprovalRequest {
  readonly path: string;
  readonly phase: ApprovalPhase;
  readonly attempt: number;
  readonly title: string;
  readonly message?: string;
  /** For `after`: what became of the child that was carried out. */
  readonly childStatus?: 'success' | 'failure';
}

/** A leaf that is reached and not done. `handOut` reads the blackboard, once all that a tick does by itself is done. */
export type Ready =
  | { readonly kind: 'tool'; readonly place: Place; handOut(): ToolRequest }
  | { readonly kind: 'llm'; readonly place: Place; handOut(): LlmRequest }
  | { readonly kind: 'agent'; readonly place: Place; handOut(): AgentRequest }
  | { readonly kind: 'approval'; readonly place: Place; handOut(): ApprovalRequest }
  | { readonly kind: 'wait'; readonly place: Place; readonly ms: number };

/** A value that a node keeps for later runs of the session. */
export interface Kept {
  readonly key: string;
  readonly value: Json;
}

/** What a node may ask of the walk over its tree. */
export interface Walk {
  /** ms since 1970. */
  readonly now: number;
  /** Active time of the run, ms. */
  readonly activeMs: number;
  readonly blackboard: Readonly<Record<string, Json>>;
  /** Keys of the blackboard that strangers wrote, or some part of. */
  readonly untrusted: ReadonlySet<string>;
  visit(place: Place): Verdict;
  /** The same under an approval that was given. */
  visitCovered(place: Place): Verdict;
  isCovered(): boolean;
  /** What is kept of a node between ticks. */
  own(place: Place): NodeState;
  note(place: Place, state: NodeState): void;
  /** Forgets a node and all under it, so that it starts anew. */
  forget(place: Place): void;
  /** What a node has come to for good, if that is kept. */
  settled(place: Place): Verdict | undefined;
  /** Keeps what a node has come to, whatever may yet happen under it. */
  settle(place: Place, verdict: Verdict): Verdict;
  /** For leaves that a tick carries out itself, once: `act` returns why it failed, or nothing. */
  once(place: Place, act: () => string | undefined): Verdict;
  /** For leaves that others carry out: what they came to, else they are ready. */
  leaf(ready: Exclude<Ready, { kind: 'approval' | 'wait' }>): Verdict;
  /** Asks for something that is not the result of a leaf. */
  ask(ready: Extract<Ready, { kind: 'approval' | 'wait' }>): Verdict;
  /** Writes to the blackboard, or says why it cannot. */
  write(key: string, value: Json, untrusted: boolean): string | undefined;
  /** Also for later runs of the session. Returns why it cannot be, or nothing. */
  keep(kept: Kept): string | undefined;
  warn(place: Place, message: string): void;
  /** How many leaves are ready so far: a place to go back to. */
  mark(): number;
  /** Takes back what became ready since. */
  drop(mark: number): void;
  /** Lets no delay asked for since `mark` be longer than this. */
  capWaits(mark: number, ms: number): void;
}

/** A kind of node: what may be written, and what it does when a tick comes to it. */
export interface NodeDefinition<Fields extends z.ZodObject = z.ZodObject> {
  readonly type: string;
  /** Strict; without `children` and `child`. */
  readonly fields: Fields;
  /** What the fields alone cannot say: what is wrong and what is expected. */
  check?(node: z.infer<Fields>): string | undefined;
  /** One line for drawings, without the name. */
  label(node: z.infer<Fields>): string;
  visit(place: Place<z.infer<Fields>>, walk: Walk): Verdict;
  /** What is kept when a retry starts it anew. */
  onForget?(own: NodeState): NodeState;
}

/** A failure that begins at this node. */
export function failure(place: Place, message: string): Verdict {
  return { status: 'failure', error: { path: place.path, message } };
}
