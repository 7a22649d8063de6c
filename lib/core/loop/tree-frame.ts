import { HandrailError } from '../errors.ts';
import type { Constraints } from '../guard/constraints.ts';
import { callHash } from '../guard/preflight.ts';
import { readArguments } from '../hands/arguments.ts';
import type { ToolResult } from '../hands/result.ts';
import { approvalIdOf, suspensionIdOf } from '../ids.ts';
import type { Json, JsonObject } from '../json.ts';
import { previewOf } from '../preview.ts';
import { chooseSkills } from '../skills/select.ts';
import type { Skill } from '../skills/skill.ts';
import { tightened } from '../skills/tighten.ts';
import { checkOutputs, checkValue } from '../trees/inputs.ts';
import { type Next, type Tick, type TickInput, tick } from '../trees/tick.ts';
import type { TreeSkill } from './deps.ts';
import { finishRun } from './finish.ts';
import { stopAtLimit } from './frame-limits.ts';
import { endFrame, failedFrame, mayPush, namespaceOf, pushFrame } from './frame-stack.ts';
import type { AgentFrame, OpenCall, TreeFrame } from './frames.ts';
import { callModel } from './llm.ts';
import { APPROVE_NODE, type AssistantCall } from './message.ts';
import { closeBatch, observe, refuse } from './observe.ts';
import { recentTalk } from './recent-talk.ts';
import { sessionKeeper } from './shared-state.ts';
import { activeMs, emit, nextCallId, type Step, say, setPlan } from './step.ts';
import { approvalPath, completeNode, noteAsked, readBoard, skillOf, untrustedKeys, writeBoard } from './tree-board.ts';
import { noUsage } from './usage.ts';

/**
 * Ticks the tree of the top frame and does what comes first (design 3.2.5 and 8): opens a batch of tool nodes, makes one
 * LLM call, pushes an agent, asks people, waits, or ends the frame. The caller goes on while there is no plan.
 */
export async function advanceTree(step: Step, frame: TreeFrame): Promise<void> {
  const board = await readBoard(step, frame);
  const ticked = await tickKeeping(step, {
    tree: skillOf(step, frame).tree,
    state: frame.state,
    blackboard: board,
    untrusted: untrustedKeys(frame),
    now: step.deps.clock.now(),
    activeMs: activeMs(step),
  });
  frame.state = ticked.state;
  for (const [key, value] of Object.entries(ticked.blackboard))
    if (board[key] !== value) writeBoard(step, frame, key, value, ticked.untrusted.has(key));
  for (const { path, message } of ticked.warnings) emit(step, 'bt.skill.warning', { frame: frame.namespace, node: path, message });
  await carryOut(step, frame, ticked.next, ticked.blackboard);
}

/** A tick is pure, so it is done again where it turns out to keep something: what room the session has is read only then. */
async function tickKeeping(step: Step, input: TickInput): Promise<Tick> {
  const ticked = tick(input);
  if (ticked.kept.length === 0) return ticked;
  const keeper = await sessionKeeper(step);
  const again = tick({ ...input, keep: keeper.keep });
  keeper.done();
  return again;
}

async function carryOut(step: Step, frame: TreeFrame, next: Next, board: Readonly<Record<string, Json>>): Promise<void> {
  switch (next.kind) {
    case 'tools':
      return openNodes(step, frame, next.calls);
    case 'llm':
      return step.asked ? setPlan(step, { next: 'reason' }) : askNode(step, frame, next);
    case 'agent':
      return pushAgent(step, frame, next);
    case 'approvals':
      return askPeople(step, frame, next.items);
    case 'wait':
      return setPlan(step, { next: 'wait', seconds: Math.max(1, Math.ceil(next.ms / 1000)) });
    case 'done':
      return endTree(step, frame, next, board);
  }
}

/** Opens the ready tool nodes as one batch in one stage. What does not fit its tool's parameters fails its node. */
function openNodes(step: Step, frame: TreeFrame, nodes: Extract<Next, { kind: 'tools' }>['calls']): void {
  const entries = nodes.map((node) => {
    const callId = nextCallId(step);
    const definition = step.deps.registry.resolve(node.tool);
    const read = definition && readArguments(node.input, definition);
    const refused =
      definition === undefined
        ? step.deps.registry.notFound(node.tool)
        : read?.ok === false
          ? read.error
          : step.deps.registry.deniedPermissions(definition);
    const args = read?.ok ? read.arguments : node.input;
    const tool = definition?.name ?? node.tool;
    const open: OpenCall = {
      callId,
      tool,
      category: definition?.category ?? 'none',
      state: 'ready',
      hash: callHash(step.run.runId, callId, tool, args),
      stage: 0,
      counted: false,
      path: node.path,
      ...(node.covered ? { covered: true } : {}),
    };
    return { open, call: { callId, tool, arguments: args } satisfies AssistantCall, refused };
  });
  openBatchOf(
    step,
    frame,
    entries.map(({ call }) => call),
    entries.map(({ open }) => open),
  );
  for (const { open, call, refused } of entries) {
    emit(step, 'bt.skill.node.io', {
      skill: frame.skill,
      frame: frame.namespace,
      stage: 'started',
      node: open.path ?? '',
      tool_name: open.tool,
      ok: refused === undefined,
      input_preview: previewOf(call.arguments),
    });
    if (refused) observe(step, frame, open, refuse(step, open, refused));
  }
  closeBatch(frame);
}

function openBatchOf(step: Step, frame: TreeFrame, calls: AssistantCall[], open: OpenCall[]): void {
  say(step, frame, { role: 'assistant', text: '', calls });
  frame.batch = { runSeq: step.run.runSeq, step: step.run.step, calls: open };
}

/** All ready approvals are one suspension (design 8). Each is bound to run, node, phase and attempt. */
function askPeople(step: Step, frame: TreeFrame, items: Extract<Next, { kind: 'approvals' }>['items']): void {
  const suspensionId = suspensionIdOf(step.run.runId, step.run.step);
  const calls = items.map(
    ({ path, phase, attempt, title, message }): AssistantCall => ({
      callId: nextCallId(step),
      tool: APPROVE_NODE,
      arguments: { node: path, phase, attempt, title, ...(message === undefined ? {} : { message }) },
    }),
  );
  openBatchOf(
    step,
    frame,
    calls,
    calls.map(({ callId, arguments: args }, index): OpenCall => {
      const { path, phase } = items[index] ?? { path: '', phase: 'before' as const };
      return {
        callId,
        tool: APPROVE_NODE,
        category: 'built-in',
        state: 'blocked',
        hash: callHash(step.run.runId, callId, APPROVE_NODE, args),
        stage: 0,
        counted: true,
        path: approvalPath(path, phase),
      };
    }),
  );
  for (const { path, phase } of items) if (phase === 'before') noteAsked(step, frame, path);
  for (const { callId } of calls)
    emit(step, 'approval.requested', { approvalId: approvalIdOf(suspensionId, callId), callId, tool: APPROVE_NODE, kind: 'node' });
  step.run.status = 'waiting';
  setPlan(step, { next: 'suspend', suspensionId });
}

const JSON_ONLY = 'Answer with one JSON value and nothing else. It must fit this JSON Schema:';

async function askNode(
  step: Step,
  frame: TreeFrame,
  { path, prompt, system, schema, untrusted }: Extract<Next, { kind: 'llm' }>,
): Promise<void> {
  if (await stopAtLimit(step)) return;
  const agent = step.deps.config.agents[step.run.agent];
  if (!agent) throw new HandrailError('INTERNAL', `the configuration no longer has the agent "${step.run.agent}"`);
  const rules = schema === undefined ? [] : [`${JSON_ONLY}\n${JSON.stringify(schema)}`];
  const called = await callModel(step, agent, {
    system: [system ?? agent.system, ...rules].join('\n\n'),
    messages: [{ role: 'user', text: prompt.toWellFormed() || '(no text)' }],
    tools: [],
    toolChoice: 'none',
  });
  const now = step.deps.clock.now();
  const metadata = { toolName: 'llm', duration: 0, truncated: false, timestamp: now };
  const failed = (code: 'SERVICE_UNAVAILABLE' | 'INVALID_OUTPUT', message: string): ToolResult => ({
    success: false,
    error: { code, message, recoverable: false },
    metadata,
  });
  const end = (result: ToolResult): void => completeNode(step, frame, path, result, untrusted);
  if ('failed' in called) return end(failed('SERVICE_UNAVAILABLE', called.failed));
  const text = called.reply.text.trim();
  if (schema === undefined) return end({ success: true, data: JSON.stringify(text), metadata });
  const checked = checkJson(text, schema);
  end(checked.ok ? { success: true, data: JSON.stringify(checked.value), metadata } : failed('INVALID_OUTPUT', checked.message));
}

function checkJson(text: string, schema: JsonObject): { ok: true; value: Json } | { ok: false; message: string } {
  const bare = /^```(?:json)?\s*([\s\S]*?)\s*```$/.exec(text)?.[1] ?? text;
  let value: Json;
  try {
    value = JSON.parse(bare) as Json;
  } catch {
    return { ok: false, message: `the LLM did not answer with JSON: ${previewOf(text)}` };
  }
  const wrong = checkValue(schema, value);
  return wrong.ok ? { ok: true, value } : { ok: false, message: wrong.error.message };
}

/** An agent node is an agent frame of its own: messages, limits, and the history that it is given (design 3.6). */
async function pushAgent(
  step: Step,
  frame: TreeFrame,
  { path, node, task, seedMessages, untrusted }: Extract<Next, { kind: 'agent' }>,
): Promise<void> {
  const name = node.agent ?? step.run.agent;
  const fail = (message: string): void =>
    completeNode(step, frame, path, refuse(step, { tool: name }, new HandrailError('RESOURCE_EXHAUSTED', message)), false);
  if (!Object.hasOwn(step.deps.config.agents, name)) return fail(`there is no agent "${name}"`);
  if (!mayPush(step)) return fail('frames may not be nested deeper');
  const chosen = skillsOfChild(step, name, node.skills ?? []);
  if (chosen instanceof HandrailError) return fail(chosen.message);
  const layers = [node.constraints ?? {}, ...ownConstraints(step, name), ...chosen.map((skill) => skill.constraints)];
  const constraints = layers.reduce(tightened, frame.constraints ?? step.run.constraints);
  const talk = await recentTalk(step, node.history_limit ?? constraints.history_limit);
  const child: AgentFrame = {
    kind: 'agent',
    namespace: namespaceOf(name, path, nextCallId(step)),
    path,
    agent: name,
    task,
    iterations: 0,
    toolCalls: 0,
    usage: noUsage,
    repeats: [],
    constraints,
    ...(chosen.length > 0 ? { skills: chosen.map((skill) => skill.name) } : {}),
    ...(untrusted || talk?.untrusted ? { untrusted: true } : {}),
  };
  pushFrame(step, child);
  if (talk) say(step, child, { role: 'user', text: talk.text });
  for (const { role, content } of seedMessages)
    say(step, child, role === 'user' ? { role, text: content } : { role, text: content, calls: [] });
  say(step, child, { role: 'user', text: task });
}

/** The agent's own and the node's, with those that they require, as at the start of a run. */
function skillsOfChild({ deps }: Step, agent: string, names: readonly string[]): Skill[] | HandrailError {
  try {
    return chooseSkills(deps.skills, [...(deps.config.agents[agent]?.skills ?? []), ...names]);
  } catch (error) {
    if (error instanceof HandrailError) return error;
    throw error;
  }
}

/** What the configuration says of the agent; of the run's own agent it holds already. */
function ownConstraints({ deps, run }: Step, agent: string): Constraints[] {
  const own = agent === run.agent ? undefined : deps.config.agents[agent]?.constraints;
  return own ? [own] : [];
}

async function endTree(
  step: Step,
  frame: TreeFrame,
  done: Extract<Next, { kind: 'done' }>,
  board: Readonly<Record<string, Json>>,
): Promise<void> {
  const skill = skillOf(step, frame);
  const result = Object.hasOwn(board, skill.resultKey) ? (board[skill.resultKey] ?? null) : null;
  const untrusted = untrustedKeys(frame).has(skill.resultKey);
  const error = treeError(skill, done, result);
  if (step.run.frames.length > 1) {
    if (error) return failedFrame(step, error.code, error.message, frame.untrusted);
    const metadata = { toolName: skill.name, duration: 0, truncated: false, timestamp: step.deps.clock.now() };
    return endFrame(step, { success: true, data: textOf(result), metadata }, untrusted);
  }
  if (error) return finishRun(step, { outcome: 'error', error: { code: error.code, message: error.message } });
  const answer = textOf(result);
  say(step, frame, { role: 'assistant', text: answer, calls: [], ...(untrusted ? { untrusted } : {}) });
  return finishRun(step, { outcome: 'completed', answer });
}

function treeError(skill: TreeSkill, done: Extract<Next, { kind: 'done' }>, result: Json): HandrailError | undefined {
  if (done.status === 'failure')
    return new HandrailError(
      'UNHANDLED',
      `the tree of ${skill.name} failed at ${done.error?.path ?? 'its root'}: ${done.error?.message ?? 'no reason given'}`,
    );
  const checked = skill.outputs === undefined ? undefined : checkOutputs(skill.outputs, result);
  return checked?.ok === false ? checked.error : undefined;
}

const textOf = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value, null, 2));
