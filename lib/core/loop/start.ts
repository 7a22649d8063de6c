import type { AgentConfig, Config } from '../config.ts';
import { HandrailError } from '../errors.ts';
import { flowFrom, flowSeen } from '../guard/checkers/flow.ts';
import { type Constraints, type MergedConstraints, mergeConstraints } from '../guard/constraints.ts';
import { modelIdOf, unpriced } from '../guard/prices.ts';
import { hashJson, sha256Bytes } from '../hash.ts';
import { base32, MAIN, runIdFrom } from '../ids.ts';
import { type Json, type JsonObject, jsonBytes, utf8Bytes } from '../json.ts';
import { CONSTRAINTS_BYTES, INPUT_BYTES } from '../limits.ts';
import { START_EVENTS } from '../machine/history.ts';
import type { Clock, Random } from '../ports/clock.ts';
import type { Engine } from '../ports/engine.ts';
import type { MessageWrite, RunStore } from '../ports/run-store.ts';
import { chooseSkills } from '../skills/select.ts';
import type { Skill, SkillCatalogue } from '../skills/skill.ts';
import { inheritable } from '../trees/inputs.ts';
import type { TreeSkill } from './deps.ts';
import type { Frame } from './frames.ts';
import { currentExecution, keyOf } from './keys.ts';
import type { Run } from './run.ts';
import { isTerminal } from './run-status.ts';
import { type Session, withRecentRun } from './session.ts';
import { readState, stateOf } from './shared-state.ts';
import { inputsOf, newTreeFrame, startBoard } from './tree-frame-start.ts';
import { noUsage } from './usage.ts';
import { noWork } from './work.ts';

/** A run whose start was not seen through is looked at by sweep after this, ms. */
const START_GRACE_MS = 30_000;
const SESSION_ATTEMPTS = 5;

export interface StartRequest {
  readonly tenant: string;
  /** Who asks, as authenticated. */
  readonly principal: string;
  readonly input: string;
  readonly agent?: string | undefined;
  /** Absent: a new session. */
  readonly sessionId?: string | undefined;
  /** A tree skill that runs in place of the agent; `input` then only tells people what it is about. */
  readonly tree?: { readonly skill: string; readonly inputs: JsonObject } | undefined;
  /** Chosen besides the agent's own. */
  readonly skills?: readonly string[] | undefined;
  /** May only tighten what app and agent allow. */
  readonly constraints?: Constraints | undefined;
  readonly idempotencyKey?: string | undefined;
}

export interface StartDeps {
  readonly runs: RunStore;
  readonly engine: Engine;
  readonly clock: Clock;
  readonly random: Random;
  readonly config: Config;
  /** Absent: there are none. */
  readonly skills?: SkillCatalogue | undefined;
  readonly trees?: ReadonlyMap<string, TreeSkill> | undefined;
}

/**
 * Starts a run (design section 4, "Starting"): the run item as `starting`, then the session's lock, then the execution.
 * Each step may be repeated, so the same `idempotencyKey` goes on where an earlier request stopped.
 * Errors: BAD_REQUEST (unknown agent or skill), PAYLOAD_TOO_LARGE, CONFLICT (the key was used for another request), SESSION_BUSY.
 */
export async function startRun(deps: StartDeps, request: StartRequest): Promise<Run> {
  const { run: wanted, values } = newRun(deps, request, await inheritedState(deps, request));
  if (values.length > 0) await deps.runs.write(keyOf(wanted), wanted.sessionId, values, []);
  const { created, run } = await deps.runs.createRun(wanted);
  if (!created && run.requestHash !== wanted.requestHash)
    throw new HandrailError('CONFLICT', 'this idempotencyKey was used for a different request', { field: 'idempotencyKey' });
  return startStored(deps, run);
}

/** Brings a stored run to its first execution, from wherever an earlier attempt stopped. Also what sweep does. */
export async function startStored(deps: Pick<StartDeps, 'runs' | 'engine' | 'clock'>, stored: Run): Promise<Run> {
  if (isTerminal(stored) || stored.step > 0) return stored;
  let run = stored;
  if (run.status === 'starting') {
    const session = await takeSession(deps, run);
    run = {
      ...run,
      status: 'running',
      runSeq: session.runSeq,
      guard: flowFrom(session.seen ?? []),
      frames: run.frames.map((frame) => ({ ...frame, head: session.head })) as Run['frames'],
      updatedAt: deps.clock.now(),
      deadline: deps.clock.now() + run.constraints.timeout,
    };
    if (!(await deps.runs.markRunning(run))) {
      const current = await deps.runs.getRun(keyOf(run));
      if (!current) throw new HandrailError('CONFLICT', 'the run was withdrawn while it started; start it again');
      run = current;
    }
  }
  if (run.step === 0 && !isTerminal(run)) await deps.engine.start(currentExecution(run), { ctx: { ...keyOf(run), step: 0 } });
  return run;
}

/** What the session's state has of the inputs that a tree is not given, as its last run left it. */
async function inheritedState({ runs, trees }: StartDeps, { tenant, sessionId, tree }: StartRequest): Promise<Record<string, Json>> {
  const names = tree ? inheritable(trees?.get(tree.skill)?.inputs, tree.inputs) : [];
  if (sessionId === undefined || names.length === 0) return {};
  const session = await runs.getSession({ tenant, sessionId });
  const holder = session?.activeRun === undefined ? undefined : await runs.getRun({ tenant, runId: session.activeRun });
  return readState(runs, { tenant, sessionId }, stateOf(session, holder), names);
}

/** A run as asked for, and what of its inputs is to be written before it. */
function newRun(deps: StartDeps, request: StartRequest, state: Record<string, Json>): { run: Run; values: MessageWrite[] } {
  const agentName = request.agent ?? 'default';
  const agent = Object.hasOwn(deps.config.agents, agentName) ? deps.config.agents[agentName] : undefined;
  if (!agent)
    throw new HandrailError('BAD_REQUEST', `there is no agent "${agentName}"; there are: ${Object.keys(deps.config.agents).join(', ')}`, {
      field: 'agent',
    });
  if (utf8Bytes(request.input) > INPUT_BYTES)
    throw new HandrailError('PAYLOAD_TOO_LARGE', `input is over ${INPUT_BYTES} bytes: put large data in a file of the workspace`, {
      field: 'input',
    });
  const skills = chooseSkills(deps.skills, [...agent.skills, ...(request.skills ?? [])]);
  if (typeof request.constraints?.guard?.budget?.cost_usd === 'number') {
    const problem = unpriced(deps.config, modelIdOf(deps.config, agent));
    if (problem !== undefined) throw new HandrailError('BAD_REQUEST', problem, { field: 'constraints.guard.budget.cost_usd' });
  }
  const constraints = constraintsOf(deps, agent, request, skills);
  const { tenant, principal, idempotencyKey, ...body } = request;
  const now = deps.clock.now();
  const runId = runIdFrom(idempotencyKey === undefined ? deps.random.bytes(20) : sha256Bytes(`${tenant}\n${idempotencyKey}`));
  const { frame, values } = request.tree ? rootTree(deps, request.tree, state) : { frame: rootAgent(agentName, skills), values: [] };
  const run: Run = {
    v: 1,
    tenant,
    runId,
    sessionId: request.sessionId ?? newSessionId(deps, request),
    agent: agentName,
    input: request.input.toWellFormed(),
    principal,
    requestHash: hashJson(JSON.parse(JSON.stringify(body)) as Json),
    createdAt: now,
    constraints,
    status: 'starting',
    runSeq: 0,
    step: 0,
    attempt: '',
    execution: 1,
    historyEvents: START_EVENTS,
    frames: [frame],
    guard: {},
    usage: noUsage,
    effects: {},
    stateChanges: {},
    activeMs: 0,
    timings: { modelMs: 0, guardMs: 0, queueMs: 0, toolMs: 0, personMs: 0 },
    work: noWork(),
    events: [],
    updatedAt: now,
    dueAt: now + START_GRACE_MS,
  };
  return { run, values };
}

/** All layers as one. PAYLOAD_TOO_LARGE where they would take too much of the run's item. */
function constraintsOf(deps: StartDeps, agent: AgentConfig, request: StartRequest, skills: readonly Skill[]): MergedConstraints {
  const constraints = mergeConstraints([
    { layer: 'app', constraints: appLayer(deps.config) },
    { layer: 'agent', constraints: agent.constraints },
    { layer: 'run', constraints: request.constraints ?? {} },
    ...skills.map((skill) => ({ layer: 'skill' as const, constraints: skill.constraints })),
    ...treeConstraints(deps, request.tree),
  ]);
  if (jsonBytes(constraints) > CONSTRAINTS_BYTES)
    throw new HandrailError('PAYLOAD_TOO_LARGE', `the constraints of all layers together are over ${CONSTRAINTS_BYTES} bytes`, {
      field: 'constraints',
    });
  return constraints;
}

function rootAgent(agent: string, skills: readonly Skill[]): Frame {
  const chosen = skills.length > 0 ? { skills: skills.map(({ name }) => name) } : {};
  return { kind: 'agent', namespace: MAIN, agent, ...chosen, iterations: 0, toolCalls: 0, usage: noUsage, repeats: [] };
}

/** A tree as the root of a run. Errors: NOT_FOUND, INVALID_ARGUMENTS with what is wrong with the inputs. */
function rootTree(
  deps: StartDeps,
  { skill, inputs }: NonNullable<StartRequest['tree']>,
  state: Record<string, Json>,
): { frame: Frame; values: MessageWrite[] } {
  const found = deps.trees?.get(skill);
  if (!found) throw new HandrailError('NOT_FOUND', `there is no tree skill "${skill.slice(0, 64)}"`);
  const resolved = inputsOf(found, inputs, state);
  if (!resolved.ok) throw resolved.error;
  const frame = newTreeFrame(found, { namespace: MAIN });
  return { frame, values: startBoard(frame, resolved.inputs, base32(deps.random.bytes(5), 8)) };
}

function treeConstraints(deps: StartDeps, tree: StartRequest['tree']): { layer: 'skill'; constraints: Constraints }[] {
  const constraints = tree && deps.trees?.get(tree.skill)?.constraints;
  return constraints ? [{ layer: 'skill', constraints }] : [];
}

/** A session for a run that names none; the same for the same `idempotencyKey`. */
export function newSessionId(
  deps: Pick<StartDeps, 'random'>,
  { tenant, idempotencyKey }: Pick<StartRequest, 'tenant' | 'idempotencyKey'>,
): string {
  return `s-${base32(idempotencyKey === undefined ? deps.random.bytes(17) : sha256Bytes(`session\n${tenant}\n${idempotencyKey}`), 26)}`;
}

/** The app's constraints without what only the app may set. */
export function appLayer(config: Config): Constraints {
  const { guard, ...rest } = config.constraints;
  if (!guard) return rest;
  const { confirm_default: _default, non_tty_pending: _pending, checkers: _checkers, ...shared } = guard;
  return { ...rest, guard: shared };
}

/** The holder was begun with what the session had seen before. */
function seenSoFar(session: Session | undefined, holder: Run | undefined): Pick<Session, 'seen'> {
  const seen = holder ? flowSeen(holder) : (session?.seen ?? []);
  return seen.length === 0 ? {} : { seen };
}

/** As the session's item has it. */
function shared({ state, stored }: ReturnType<typeof stateOf>): Pick<Session, 'state' | 'stored'> {
  return { state: { ...state }, ...(Object.keys(stored).length === 0 ? {} : { stored: { ...stored } }) };
}

/** Takes the session's lock for `run`: free, held by a run that has ended, or already this run's. */
async function takeSession(deps: Pick<StartDeps, 'runs' | 'clock'>, run: Run): Promise<Session> {
  for (let attempt = 0; attempt < SESSION_ATTEMPTS; attempt++) {
    const session = await deps.runs.getSession(run);
    if (session?.deletingAt !== undefined) {
      await deps.runs.deleteStarting(keyOf(run));
      throw new HandrailError('CONFLICT', `session ${run.sessionId} is being deleted`, { field: 'sessionId' });
    }
    if (session?.activeRun === run.runId) return session;
    const holder = session?.activeRun === undefined ? undefined : await deps.runs.getRun({ tenant: run.tenant, runId: session.activeRun });
    if (holder && !isTerminal(holder)) {
      await deps.runs.deleteStarting(keyOf(run));
      throw new HandrailError('SESSION_BUSY', `session ${run.sessionId} is busy with run ${holder.runId}`, {
        extra: { runId: holder.runId },
      });
    }
    const next: Session = {
      v: 1,
      tenant: run.tenant,
      sessionId: run.sessionId,
      createdAt: session?.createdAt ?? deps.clock.now(),
      activeRun: run.runId,
      recentRuns: withRecentRun(session, run.runId),
      runSeq: (session?.runSeq ?? 0) + 1,
      head: holder?.frames[0]?.head ?? session?.head,
      ...shared(stateOf(session, holder)),
      ...seenSoFar(session, holder),
    };
    if (await deps.runs.swapSession(next, session?.activeRun)) return next;
  }
  throw new HandrailError('SESSION_BUSY', `session ${run.sessionId} is being taken by other runs; try again`);
}
