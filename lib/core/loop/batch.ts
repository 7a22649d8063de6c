import { HandrailError } from '../errors.ts';
import { callHash } from '../guard/preflight.ts';
import { readArguments } from '../hands/arguments.ts';
import type { ToolDefinition } from '../hands/define-tool.ts';
import { planStages } from '../hands/execution-mode.ts';
import { noteRefusal, verdict } from '../hands/loop-detection.ts';
import { hashJson } from '../hash.ts';
import { BATCH_CALLS } from '../limits.ts';
import type { ModelReply, RawCall } from '../ports/model.ts';
import type { AgentFrame, OpenCall } from './frames.ts';
import type { AssistantCall } from './message.ts';
import { closeBatch, observe, refuse } from './observe.ts';
import { agentOf, emit, nextCallId, type Step, say } from './step.ts';

/** Characters of the LLM's own text that are kept when a call could not be taken as written. */
const RAW_CHARACTERS = 2_000;

/** Beyond this a message is no batch any more but noise: the rest is not even answered, and not shown again. */
const MESSAGE_CALLS = 500;

interface Entry {
  readonly call: AssistantCall;
  readonly definition: ToolDefinition | undefined;
  /** Why it is answered without running. */
  readonly refused: HandrailError | undefined;
  readonly loop: boolean;
}

/**
 * Takes the tool calls of an assistant message as the frame's open batch (design 3.2.8): lookup, arguments,
 * permission, loop detection. A call that fails any of these is answered at once; the others wait for the guard.
 * `loop`: a call was asked for again after it had been refused as a loop.
 */
export function openBatch(step: Step, frame: AgentFrame, reply: ModelReply, tools: readonly ToolDefinition[]): 'open' | 'loop' {
  const entries = reply.calls.slice(0, MESSAGE_CALLS).map((raw, index) => readCall(step, frame, raw, index, tools));
  say(step, frame, { role: 'assistant', text: reply.text.toWellFormed(), calls: entries.map((entry) => entry.call) });
  const stages = stagesOf(step, frame, entries);
  const calls = entries.map(
    (entry, index): OpenCall => ({
      callId: entry.call.callId,
      tool: entry.call.tool,
      category: entry.definition?.category ?? 'none',
      state: 'ready',
      hash: callHash(step.run.runId, entry.call.callId, entry.call.tool, entry.call.arguments),
      stage: stages.order[index] ?? 0,
      counted: false,
    }),
  );
  frame.batch = { runSeq: step.run.runSeq, step: step.run.step, calls: calls.slice(0, BATCH_CALLS) };
  for (const entry of entries)
    if (entry.refused?.code === 'LOOP_DETECTED') noteRefusal(frame.repeats, hashJson([entry.call.tool, entry.call.arguments]));
  entries.slice(0, BATCH_CALLS).forEach((entry, index) => {
    const call = calls[index];
    const refused = entry.refused ?? (entry.definition && stages.error);
    if (call && refused) observe(step, frame, call, refuse(step, call, refused));
  });
  refuseRest(step, frame, entries.slice(BATCH_CALLS));
  closeBatch(frame);
  return entries.some((entry) => entry.loop) ? 'loop' : 'open';
}

/** Answers the calls beyond the limit. They are no part of the batch and have one event together: both are in the run item. */
function refuseRest(step: Step, frame: AgentFrame, entries: readonly Entry[]): void {
  const [first] = entries;
  if (!first) return;
  const error = tooMany();
  for (const { call } of entries)
    say(step, frame, { role: 'observation', callId: call.callId, tool: call.tool, result: refuse(step, call, error), untrusted: false });
  emit(step, 'tool.call.failed', {
    callId: first.call.callId,
    tool: first.call.tool,
    frame: frame.namespace,
    duration: 0,
    error: { code: error.code, message: `${error.message} (${entries.length} did not run)` },
  });
}

const tooMany = (): HandrailError =>
  new HandrailError('INVALID_ARGUMENTS', `more than ${BATCH_CALLS} calls in one message: make fewer at a time`);

function readCall(step: Step, frame: AgentFrame, raw: RawCall, index: number, tools: readonly ToolDefinition[]): Entry {
  const callId = nextCallId(step);
  const provider = raw.id === undefined ? {} : { providerId: raw.id.slice(0, 128) };
  const rawText = typeof raw.arguments === 'string' ? raw.arguments : (JSON.stringify(raw.arguments) ?? '');
  const original = { raw: `${raw.name.slice(0, 200)} ${rawText}`.slice(0, RAW_CHARACTERS).toWellFormed() };
  const refusedCall = (tool: string, error: HandrailError, definition?: ToolDefinition): Entry => ({
    call: { callId, tool, arguments: {}, ...original, ...provider },
    definition,
    refused: error,
    loop: false,
  });
  if (index >= BATCH_CALLS) return refusedCall(safeName(raw.name), tooMany());
  const known = step.deps.registry.resolve(raw.name);
  const definition = known && tools.includes(known) ? known : undefined;
  if (!definition) return refusedCall(safeName(raw.name), step.deps.registry.notFound(raw.name, tools));
  const read = readArguments(raw.arguments, definition);
  if (!read.ok) return refusedCall(definition.name, read.error, definition);
  const call: AssistantCall = {
    callId,
    tool: definition.name,
    arguments: read.arguments,
    ...(read.repaired || raw.name !== definition.name ? original : {}),
    ...provider,
  };
  const denied = step.deps.registry.deniedPermissions(definition);
  if (denied) return { call, definition, refused: denied, loop: false };
  const key = hashJson([definition.name, read.arguments]);
  const seen = verdict(frame.repeats, key);
  if (seen === 'run') return { call, definition, refused: undefined, loop: false };
  const refused = new HandrailError(
    'LOOP_DETECTED',
    `${definition.name} gave the same result three times in a row for these arguments; it was not run again`,
  );
  return { call, definition, refused, loop: seen === 'end' };
}

/** A name that every provider accepts in a replayed history (asl-facts section 7). */
function safeName(name: string): string {
  const cleaned = name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 63);
  return /^[A-Za-z]/.test(cleaned) ? cleaned : `t_${cleaned}`.slice(0, 63);
}

function stagesOf(
  step: Step,
  frame: AgentFrame,
  entries: readonly Entry[],
): { order: readonly number[]; error: HandrailError | undefined } {
  const runnable = entries.flatMap((entry, index) =>
    entry.refused || !entry.definition ? [] : [{ index, callId: entry.call.callId, definition: entry.definition }],
  );
  const order = new Array<number>(entries.length).fill(0);
  try {
    const pushes = ({ definition }: { definition: { name: string } }): boolean => step.deps.builtIns.get(definition.name)?.kind === 'frame';
    planStages(runnable, agentOf(step.deps, frame).mode, pushes).forEach((stage, place) => {
      const entry = runnable[place];
      if (entry) order[entry.index] = stage;
    });
    return { order, error: undefined };
  } catch (error) {
    if (error instanceof HandrailError) return { order, error };
    throw error;
  }
}
