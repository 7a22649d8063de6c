import { hashJson } from '../hash.ts';
import type { JsonObject } from '../json.ts';
import type { Usage } from '../loop/usage.ts';
import { CONFIRM } from './checkers/confirm.ts';
import { FLOW, flowAfter, flowBefore } from './checkers/flow.ts';
import { checkersInOrder } from './checkers/index.ts';
import { COUNTED, RATE_LIMIT } from './checkers/rate-limit.ts';
import { policyOn } from './checkers/tool-policy.ts';
import type { MergedConstraints } from './constraints.ts';
import type { Checker, GuardContext } from './decision.ts';
import { createEnforcer, type Enforcer, type GuardDecision } from './enforcer.ts';
import { type LivePolicy, withLivePolicy } from './policy.ts';

/** A call that is neither answered nor dispatched. */
export interface PreflightCall {
  readonly callId: string;
  /** Registered name. */
  readonly tool: string;
  readonly arguments: JsonObject;
  /** `callHash` of these arguments. */
  readonly hash: string;
  readonly aliases: readonly string[];
  readonly effectTags: readonly string[];
  readonly nodePath: string;
  /** The rate limit has counted it in an earlier step. */
  readonly counted: boolean;
  /** Hash of what a person approved for this call. */
  readonly approvedHash: string | undefined;
}

interface Common {
  readonly constraints: MergedConstraints;
  readonly policies: readonly LivePolicy[];
  readonly usage: Usage;
  /** States of the checkers, as the run keeps them. */
  readonly state: Readonly<Record<string, JsonObject>>;
  /** Makes the app's own checkers: fresh ones each time, since runs must not share them. */
  readonly customCheckers?: (() => readonly Checker[]) | undefined;
}

export interface PreflightInput extends Common {
  readonly calls: readonly PreflightCall[];
  readonly sessionId: string;
  /** `batch`: one DENY of policy, budget, flow or a custom checker answers every call. Trees always use `call`. */
  readonly onDeny: 'batch' | 'call';
  /** Effect tags the run has had so far: a lower bound of what flow has noted itself. */
  readonly effects?: Readonly<Record<string, number>> | undefined;
  readonly confirmDefault?: 'allow' | 'deny' | undefined;
}

export interface Verdict extends GuardDecision {
  readonly verdict: 'allow' | 'deny' | 'ask';
  /** The rate limit has counted it, now or before. */
  readonly counted: boolean;
  /** Data of the call's one `guard.decision` event: checker, reason, what it looked at. */
  readonly event: JsonObject;
}

export interface PreflightOutcome {
  /** By call id, in the order of the calls. */
  readonly verdicts: ReadonlyMap<string, Verdict>;
  /** False when nothing of the batch may be dispatched yet, because a person must decide something in it. */
  readonly dispatch: boolean;
  /** States of the checkers, to be committed. */
  readonly state: Record<string, JsonObject>;
}

/**
 * The guard's verdict on a batch before anything of it runs, and again on what is left of it at every later step
 * (design 5.2). Denials come first; the rate limit is per call, the first that fit pass, and counts each call once, when
 * it passes or is sent for approval; what was denied takes nothing.
 */
export async function preflight(input: PreflightInput): Promise<PreflightOutcome> {
  const settings = { constraints: withLivePolicy(input.constraints, input.policies), confirmDefault: input.confirmDefault };
  const chain = chainOf(checkersInOrder(settings, input.customCheckers?.()));
  const ids = input.calls.map(({ callId }) => callId);
  chain.whole.reset();
  chain.whole.restore({ ...input.state, [FLOW]: flowBefore(input.state[FLOW], ids, input.effects) });
  const untouched = chain.limitState();
  const checked: Checked[] = [];
  for (const call of input.calls) checked.push(await checkCall(input, call, chain));
  const offender = input.onDeny === 'batch' ? checked.find(({ deniesBatch }) => deniesBatch !== undefined) : undefined;
  if (offender) chain.setLimitState(untouched);
  const verdicts = new Map(checked.map((one) => [one.call.callId, offender ? deniedWith(one, offender) : verdictOf(one)]));
  const state = chain.whole.save();
  const passing = input.calls.filter(({ callId }) => verdicts.get(callId)?.verdict === 'allow');
  state[FLOW] = flowAfter(state[FLOW], passing);
  return { verdicts, dispatch: [...verdicts.values()].every(({ verdict }) => verdict !== 'ask'), state };
}

/** The guard's answer to one LLM call: the budget's, and what custom checkers say. Nobody can be asked about it. */
export async function checkLlmCall(
  input: Common,
): Promise<GuardDecision & { readonly state: Record<string, JsonObject>; readonly event: JsonObject }> {
  const constraints = withLivePolicy(input.constraints, input.policies);
  const enforcer = createEnforcer(checkersInOrder({ constraints, confirmDefault: undefined }, input.customCheckers?.()));
  enforcer.reset();
  enforcer.restore(input.state);
  const metadata: JsonObject = {};
  const decision = await enforcer.check('llm_call', {
    action: 'llm_call',
    usage: input.usage,
    metadata,
    approval: { needsConfirm: false },
  });
  return { ...decision, state: enforcer.save(), event: { action: 'llm_call', ...eventOf(decision, metadata) } };
}

/** What an approval is bound to (design 5.3): hex SHA-256 of run, call, tool and arguments. */
export function callHash(runId: string, callId: string, tool: string, args: JsonObject): string {
  return hashJson([runId, callId, tool, args]);
}

/** Names of the tools that policy denies whatever their arguments: the LLM is not shown them (seed 000, `_apply_tool_policy`). */
export function deniedTools(
  tools: readonly { readonly name: string; readonly aliases: readonly string[]; readonly effectTags: readonly string[] }[],
  constraints: MergedConstraints,
  policies: readonly LivePolicy[],
): Set<string> {
  const now = withLivePolicy(constraints, policies);
  return new Set(tools.filter((tool) => policyOn(now, tool).policy === 'deny').map(({ name }) => name));
}

interface Chain {
  readonly whole: Enforcer;
  /** What comes after the rate limit. */
  readonly afterLimit: Enforcer;
  /** The count of the rate limit, to be taken back when a later checker denies. */
  limitState(): JsonObject;
  setLimitState(state: JsonObject): void;
}

function chainOf(checkers: readonly Checker[]): Chain {
  const place = checkers.findIndex(({ name }) => name === RATE_LIMIT);
  const limit = checkers[place];
  return {
    whole: createEnforcer(checkers),
    afterLimit: createEnforcer(checkers.slice(place + 1)),
    limitState: () => limit?.save?.() ?? {},
    setLimitState: (state) => limit?.restore?.(state),
  };
}

interface Checked {
  readonly call: PreflightCall;
  readonly decision: GuardDecision;
  readonly counted: boolean;
  readonly metadata: JsonObject;
  /** The DENY that `on_deny: batch` spreads to all calls. */
  readonly deniesBatch: GuardDecision | undefined;
}

async function checkCall(input: PreflightInput, call: PreflightCall, chain: Chain): Promise<Checked> {
  const metadata: JsonObject = call.counted ? { [COUNTED]: true } : {};
  // Custom checkers are given copies: what was validated and hashed is what runs.
  const args = input.customCheckers ? structuredClone(call.arguments) : call.arguments;
  const contextOf = (): GuardContext => ({
    action: 'tool_call',
    usage: input.usage,
    metadata,
    tool: {
      name: call.tool,
      args,
      sessionId: input.sessionId,
      nodePath: call.nodePath,
      aliases: call.aliases,
      effectTags: call.effectTags,
      hash: call.hash,
    },
    approval:
      call.approvedHash === undefined
        ? { needsConfirm: false }
        : { needsConfirm: false, progressState: 'approved', approvedHash: call.approvedHash },
  });
  const before = chain.limitState();
  const decision = await chain.whole.check('tool_call', contextOf());
  if (decision.decision !== 'DENY') return { call, decision, counted: true, metadata, deniesBatch: undefined };
  chain.setLimitState(before);
  let deniesBatch: GuardDecision | undefined = decision;
  if (decision.checker === RATE_LIMIT) {
    // The limit is per call, yet a batch must not slip past the checkers after it because one of its calls was late.
    const rest = input.onDeny === 'batch' ? await chain.afterLimit.check('tool_call', contextOf()) : undefined;
    deniesBatch = rest?.decision === 'DENY' ? rest : undefined;
  }
  if (deniesBatch?.checker === CONFIRM) deniesBatch = undefined;
  return { call, decision, counted: call.counted, metadata, deniesBatch };
}

function verdictOf({ call, decision, counted, metadata }: Checked): Verdict {
  const verdict = decision.decision === 'ALLOW' ? 'allow' : decision.decision === 'PENDING' ? 'ask' : 'deny';
  return { ...decision, verdict, counted, event: { callId: call.callId, tool: call.tool, ...eventOf(decision, metadata) } };
}

/** The verdict on a call of a batch that is denied as a whole: its own DENY where it has one. */
function deniedWith(one: Checked, offender: Checked): Verdict {
  const cause = offender.deniesBatch ?? offender.decision;
  const own = one.deniesBatch;
  const reason = own?.reason ?? `denied with its batch, for ${offender.call.tool} (${offender.call.callId}): ${cause.reason}`;
  const decision: GuardDecision = { decision: 'DENY', checker: (own ?? cause).checker, reason, answers: one.decision.answers };
  return { ...verdictOf({ ...one, decision }), counted: one.call.counted };
}

function eventOf(decision: GuardDecision, metadata: JsonObject): JsonObject {
  return {
    decision: decision.decision,
    checker: decision.checker,
    reason: decision.reason,
    answers: decision.answers.map(({ checker, decision: said, reason }) => ({ checker, decision: said, reason })),
    looked_at: metadata,
  };
}
