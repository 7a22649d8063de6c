import { HandrailError } from '../errors.ts';
import { type JsonObject, jsonObjectSchema } from '../json.ts';
import { CONFIRM } from './checkers/confirm.ts';
import type { ApprovalContext, Checker, Decision, GuardContext } from './decision.ts';

export interface CheckerAnswer {
  readonly checker: string;
  readonly decision: Decision;
  readonly reason: string;
}

/** What the chain came to. CONFIRM is never the end of it: unanswered, it is a DENY (design 5.1). */
export interface GuardDecision {
  readonly decision: Exclude<Decision, 'CONFIRM'>;
  /** Of a PENDING: of every checker that asked. */
  readonly reason: string;
  /** Who denied, or the first who asked; the last of the chain when all allowed. */
  readonly checker: string;
  /** All that were asked, in order; the chain ends at the first DENY or PENDING. */
  readonly answers: readonly CheckerAnswer[];
}

/** Seed 003, GuardEnforcer: an ordered chain of checkers. */
export interface Enforcer {
  check(action: GuardContext['action'], context: GuardContext): Promise<GuardDecision>;
  reset(): void;
  /** The checkers' states by name: what `restore` takes. */
  save(): Record<string, JsonObject>;
  restore(states: Readonly<Record<string, JsonObject>>): void;
}

/** Throws CONFLICT when two checkers have one name. The chain is closed to failure: whatever goes wrong in a checker is a DENY. */
export function createEnforcer(checkers: readonly Checker[]): Enforcer {
  refuseDuplicates(checkers);
  /** Checkers whose state could not be taken up: why. */
  const broken = new Map<string, string>();
  let restored: Readonly<Record<string, JsonObject>> = {};
  return {
    check: (action, context) => runChain(checkers, broken, action, context),
    reset: () => {
      broken.clear();
      restored = {};
      for (const checker of checkers) guarded(checker, broken, 'reset', () => checker.reset());
    },
    save: () => {
      const states: Record<string, JsonObject> = { ...restored };
      for (const checker of checkers) {
        if (!checker.save || broken.has(checker.name)) continue;
        guarded(checker, broken, 'save', () => {
          states[checker.name] = jsonObjectSchema.parse(checker.save?.());
        });
      }
      return states;
    },
    restore: (states) => {
      restored = states;
      for (const checker of checkers) {
        const state = Object.hasOwn(states, checker.name) ? states[checker.name] : undefined;
        if (state) guarded(checker, broken, 'restore', () => checker.restore?.(structuredClone(state)));
      }
    },
  };
}

async function runChain(
  checkers: readonly Checker[],
  broken: ReadonlyMap<string, string>,
  action: GuardContext['action'],
  context: GuardContext,
): Promise<GuardDecision> {
  const approval: ApprovalContext = context.approval ?? { needsConfirm: false };
  const answers: CheckerAnswer[] = [];
  const asking: CheckerAnswer[] = approval.needsConfirm
    ? [{ checker: CONFIRM, decision: 'CONFIRM', reason: 'the caller asks for a person' }]
    : [];
  for (const checker of checkers) {
    // Only confirm may clear the mark or say how far an approval has come; what others write there is a copy.
    const shown = checker.name === CONFIRM ? approval : { ...approval };
    if (checker.name === CONFIRM && asking.length > 0) approval.reason = reasonsOf(asking);
    const answer = await ask(checker, broken, action, { ...context, approval: shown });
    answers.push(answer);
    if (answer.decision === 'DENY')
      return { decision: 'DENY', checker: checker.name, reason: withAsked(answer.reason, checker.name, asking), answers };
    if (answer.decision === 'PENDING') {
      const first = asking[0] ?? answer;
      return { decision: 'PENDING', checker: first.checker, reason: reasonsOf(asking.length > 0 ? asking : [answer]), answers };
    }
    if (checker.name === CONFIRM && answer.decision === 'ALLOW' && !approval.needsConfirm) asking.length = 0;
    else if (answer.decision === 'CONFIRM' || (shown.needsConfirm && !approval.needsConfirm)) asking.push(answer);
    approval.needsConfirm = asking.length > 0;
  }
  const standing = asking[0];
  if (standing) return { decision: 'DENY', checker: standing.checker, reason: `nobody confirmed: ${reasonsOf(asking)}`, answers };
  const last = answers.at(-1);
  return { decision: 'ALLOW', checker: last?.checker ?? CONFIRM, reason: last?.reason ?? 'no checker', answers };
}

async function ask(
  checker: Checker,
  broken: ReadonlyMap<string, string>,
  action: GuardContext['action'],
  context: GuardContext,
): Promise<CheckerAnswer> {
  const deny = (reason: string): CheckerAnswer => ({ checker: checker.name, decision: 'DENY', reason });
  const failure = broken.get(checker.name);
  if (failure !== undefined) return deny(failure);
  try {
    const answer: unknown = await checker.check(action, context);
    if (!Array.isArray(answer)) return deny(`checker ${checker.name} gave no decision`);
    const [decision, reason] = answer as readonly unknown[];
    if (!isDecision(decision)) return deny(`checker ${checker.name} gave no decision that is known`);
    return { checker: checker.name, decision, reason: typeof reason === 'string' ? reason : '' };
  } catch (error) {
    return deny(`checker ${checker.name} failed: ${messageOf(error)}`);
  }
}

const DECISIONS: readonly Decision[] = ['ALLOW', 'DENY', 'CONFIRM', 'PENDING'];
const isDecision = (value: unknown): value is Decision => DECISIONS.some((decision) => decision === value);

function guarded(checker: Checker, broken: Map<string, string>, what: string, act: () => void): void {
  try {
    act();
  } catch (error) {
    broken.set(checker.name, `checker ${checker.name} failed to ${what} its state: ${messageOf(error)}`);
  }
}

/** Confirm alone knows that nobody will be asked, not what for. */
function withAsked(reason: string, checker: string, asking: readonly CheckerAnswer[]): string {
  return checker === CONFIRM && asking.length > 0 ? `${reason}: ${reasonsOf(asking)}` : reason;
}

const reasonsOf = (answers: readonly CheckerAnswer[]): string => answers.map((answer) => answer.reason).join('; ');
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).slice(0, 500);

function refuseDuplicates(checkers: readonly Checker[]): void {
  const names = checkers.map((checker) => checker.name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new HandrailError('CONFLICT', `two checkers are named "${twice}": give each its own name`);
}
