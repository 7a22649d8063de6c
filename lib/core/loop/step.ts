import type { AgentConfig } from '../config.ts';
import { HandrailError } from '../errors.ts';
import type { MergedConstraints } from '../guard/constraints.ts';
import { base32, callIdOf, stepOfCall } from '../ids.ts';
import type { JsonObject } from '../json.ts';
import type { StepInputs } from '../ports/run-store.ts';
import { maskJson } from '../preview.ts';
import type { Kept } from '../trees/node.ts';
import type { LoopDeps } from './deps.ts';
import type { EVENT_TYPES } from './event.ts';
import type { AgentFrame, Frame, OpenCall } from './frames.ts';
import type { Message, PlacedMessage } from './message.ts';
import type { Plan } from './plan.ts';
import type { Run } from './run.ts';
import { staleLeases } from './stale-leases.ts';

/** Messages of a tree that are read at most: a tree has 500 nodes. */
const TREE_MESSAGES = 2_000;

/** One pass of `reason` at work: what it read, the run as it will be committed, and what it has said so far. */
export interface Step {
  readonly deps: LoopDeps;
  readonly inputs: StepInputs;
  /** The run as read. */
  readonly before: Run;
  /** The run as it will be committed; changed in place until then. */
  readonly run: Run;
  readonly startedAt: number;
  /** ms since 1970 when `inputs.policies` were read. */
  policiesAt: number;
  /** ms since 1970 from which time counts as active: the last commit, or this step's beginning after a time at rest. */
  activeSince: number;
  /** Messages of this step, by frame. */
  readonly said: Map<string, Message[]>;
  /** Values too large for what names them: each is an item of its own. */
  readonly values: Kept[];
  /** Leases to give back. */
  readonly giveBack: string[];
  /** Transcripts that have been read, by namespace. */
  readonly history: Map<string, PlacedMessage[]>;
  /** Frames that ended in this step: what they said is still written. */
  readonly ended: Frame[];
  /** Calls that were given an id in this step, over all frames. */
  calls: number;
  /** The LLM has been called in this step: once is all (design 3.2.7). */
  asked: boolean;
}

export function beginStep(deps: LoopDeps, inputs: StepInputs, before: Run): Step {
  const run = structuredClone(before);
  run.step = before.step + 1;
  run.attempt = base32(deps.random.bytes(5), 8);
  run.events = [];
  delete run.plan;
  const startedAt = deps.clock.now();
  const rested = before.plan === undefined || before.plan.next === 'suspend';
  return {
    deps,
    inputs,
    before,
    run,
    startedAt,
    policiesAt: startedAt,
    activeSince: rested ? startedAt : before.updatedAt,
    said: new Map(),
    values: [],
    giveBack: staleLeases(before, inputs.permits),
    history: new Map(),
    ended: [],
    calls: 0,
    asked: false,
  };
}

/** The frame that decides now. */
export function topFrame(run: Run): Frame {
  const frame = run.frames.at(-1);
  if (!frame) throw new HandrailError('INTERNAL', `run ${run.runId} has no frame`);
  return frame;
}

export function agentOf(deps: Pick<LoopDeps, 'config'>, frame: AgentFrame): AgentConfig {
  const agent = deps.config.agents[frame.agent];
  if (!agent) throw new HandrailError('INTERNAL', `the configuration no longer has the agent "${frame.agent}"`);
  return agent;
}

/** What holds in a frame: its own constraints, else the run's. */
/** What holds for the run as a whole: what it was started with, and what its root frame has taken on since. */
export const runConstraints = (run: Pick<Run, 'frames' | 'constraints'>): MergedConstraints =>
  run.frames[0]?.constraints ?? run.constraints;
export const constraintsOf = (run: Run, frame: Frame): MergedConstraints => frame.constraints ?? run.constraints;

/** An id for a call that is asked for in this step, whichever frame asks. */
export const nextCallId = (step: Step): string => callIdOf(step.run.step, step.calls++);

export function say(step: Step, frame: Frame, message: Message): void {
  const messages = step.said.get(frame.namespace);
  if (messages) messages.push(message);
  else step.said.set(frame.namespace, [message]);
}

/** Adds to the event log. Whoever may read a run reads it, so no secret stands in it; texts that are cut are masked before. */
export function emit(step: Step, type: (typeof EVENT_TYPES)[number], data: JsonObject): void {
  step.run.events.push({ type, at: step.deps.clock.now(), data: maskJson(data) });
}

/** The transcript of a frame, by default the top one: what was stored, and what this step has said. Read once. */
export async function transcript(step: Step, frame: Frame = topFrame(step.run)): Promise<PlacedMessage[]> {
  const stored = step.history.get(frame.namespace) ?? (await readHistory(step, frame));
  step.history.set(frame.namespace, stored);
  const place = { runSeq: step.run.runSeq, step: step.run.step };
  const said = (step.said.get(frame.namespace) ?? []).map((message, index): PlacedMessage => ({ ...place, index, message }));
  return [...stored, ...said];
}

async function readHistory(step: Step, frame: Frame): Promise<PlacedMessage[]> {
  if (frame.head === undefined) return [];
  const { batch } = frame;
  const through = batch && batch.step <= step.before.step ? { runSeq: batch.runSeq, step: batch.step } : undefined;
  // A tree's values may stand anywhere in its messages, and these are few.
  const atLeast = frame.kind === 'tree' ? TREE_MESSAGES : constraintsOf(step.run, frame).max_messages;
  const found = await step.deps.runs.readTranscript(step.run, frame.head, atLeast, through);
  const beginning = partOfOneBatch(found);
  return beginning ? step.deps.runs.readTranscript(step.run, frame.head, atLeast, beginning) : found;
}

/** Where the batch begins, if the window holds results of the newest batch and nothing else: the LLM has to see that batch. */
function partOfOneBatch(messages: readonly PlacedMessage[]): { runSeq: number; step: number } | undefined {
  const [oldest] = messages;
  if (!oldest || messages.some(({ message }) => message.role === 'user' || message.role === 'assistant')) return undefined;
  const { message, runSeq } = oldest;
  return 'callId' in message ? { runSeq, step: stepOfCall(message.callId) } : undefined;
}

export function openCalls(frame: Frame): OpenCall[] {
  return frame.batch?.calls.filter((call) => call.state !== 'done') ?? [];
}

export function setPlan(step: Step, plan: Plan): void {
  step.run.plan = plan;
}

/** ms the run has been active, this step included; time suspended does not count (design 5.4), nor time the engine was stopped. */
export function activeMs({ before, deps, activeSince }: Step): number {
  return before.activeMs + deps.clock.now() - activeSince;
}
