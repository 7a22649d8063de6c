import type { AgentConfig } from '../config.ts';
import { HandrailError } from '../errors.ts';
import { base32 } from '../ids.ts';
import type { JsonObject } from '../json.ts';
import type { StepInputs } from '../ports/run-store.ts';
import type { LoopDeps } from './deps.ts';
import { type EVENT_TYPES, eventKey, type PlacedEvent } from './event.ts';
import type { AgentFrame, OpenCall } from './frames.ts';
import type { Message, PlacedMessage } from './message.ts';
import type { Plan } from './plan.ts';
import type { Run } from './run.ts';

/** One pass of `reason` at work: what it read, the run as it will be committed, and what it has said so far. */
export interface Step {
  readonly deps: LoopDeps;
  readonly inputs: StepInputs;
  /** The run as read. */
  readonly before: Run;
  /** The run as it will be committed; changed in place until then. */
  readonly run: Run;
  readonly startedAt: number;
  /** Messages of this step, by frame. */
  readonly said: Map<string, Message[]>;
  /** Leases to give back. */
  readonly giveBack: string[];
  /** The top frame's transcript, once it has been read. */
  history: PlacedMessage[] | undefined;
}

export function beginStep(deps: LoopDeps, inputs: StepInputs, before: Run): Step {
  const run = structuredClone(before);
  run.step = before.step + 1;
  run.attempt = base32(deps.random.bytes(5), 8);
  run.events = [];
  return { deps, inputs, before, run, startedAt: deps.clock.now(), said: new Map(), giveBack: [], history: undefined };
}

/** The frame that decides now. */
export function topFrame(run: Run): AgentFrame {
  const frame = run.frames.at(-1);
  if (!frame) throw new HandrailError('INTERNAL', `run ${run.runId} has no frame`);
  return frame;
}

export function agentOf(deps: Pick<LoopDeps, 'config'>, frame: AgentFrame): AgentConfig {
  const agent = deps.config.agents[frame.agent];
  if (!agent) throw new HandrailError('INTERNAL', `the configuration no longer has the agent "${frame.agent}"`);
  return agent;
}

export function say(step: Step, frame: AgentFrame, message: Message): void {
  const messages = step.said.get(frame.namespace);
  if (messages) messages.push(message);
  else step.said.set(frame.namespace, [message]);
}

export function emit(step: Step, type: (typeof EVENT_TYPES)[number], data: JsonObject): void {
  step.run.events.push({ type, at: step.deps.clock.now(), data });
}

/** The transcript of the top frame: what was stored, and what this step has said. Read once. */
export async function transcript(step: Step): Promise<PlacedMessage[]> {
  const frame = topFrame(step.run);
  step.history ??= await readHistory(step, frame);
  const place = { runSeq: step.run.runSeq, step: step.run.step };
  const said = (step.said.get(frame.namespace) ?? []).map((message, index): PlacedMessage => ({ ...place, index, message }));
  return [...step.history, ...said];
}

async function readHistory(step: Step, frame: AgentFrame): Promise<PlacedMessage[]> {
  if (frame.head === undefined) return [];
  const { batch } = frame;
  const through = batch && batch.step <= step.before.step ? { runSeq: batch.runSeq, step: batch.step } : undefined;
  return step.deps.runs.readTranscript(step.run, frame.head, step.run.constraints.max_messages, through);
}

/** Events of the commit before this one: they rode in it and become items of their own now. */
export function riddenEvents(before: Run): PlacedEvent[] {
  return before.events.map((event, n) => ({ ...event, step: before.step, key: eventKey(before.step, 'reason', n) }));
}

export function openCalls(frame: AgentFrame): OpenCall[] {
  return frame.batch?.calls.filter((call) => call.state !== 'done') ?? [];
}

export function setPlan(step: Step, plan: Plan): void {
  step.run.plan = plan;
}
