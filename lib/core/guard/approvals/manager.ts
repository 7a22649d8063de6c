import { HandrailError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import type { Clock } from '../../ports/clock.ts';
import { type ApprovalStore, inMemoryApprovalStore } from './approval-store.ts';

/** What a person, or what stands for one, is asked (seed 003, ApprovalRequest). */
export interface ApprovalRequest {
  /** The same for the same question: a request that waits is not asked again. */
  readonly requestId: string;
  readonly kind: 'tool' | 'node';
  /** The tool's name, or the node's. */
  readonly name: string;
  readonly arguments: JsonObject;
  readonly sessionId: string;
  readonly nodePath: string;
  /** The rule that asks. */
  readonly reason: string;
}

export const approvalOutcomes = ['approved', 'rejected', 'pending'] as const;

export interface ApprovalResult {
  readonly outcome: (typeof approvalOutcomes)[number];
  readonly reason?: string | undefined;
  readonly by?: string | undefined;
}

/** May answer a boolean, a word, or an `ApprovalResult`; anything else counts as rejected, and so does a throw. */
export type ApprovalCallback = (request: ApprovalRequest) => unknown;

export interface ApprovalEvent {
  readonly type: 'approval.requested' | 'approval.resolved';
  readonly at: number;
  readonly request: ApprovalRequest;
  /** Of `approval.resolved`. */
  readonly result?: ApprovalResult;
}

export interface ApprovalManagerOptions {
  /** Asked before any other. */
  readonly callback?: ApprovalCallback | undefined;
  readonly toolCallback?: ApprovalCallback | undefined;
  readonly nodeCallback?: ApprovalCallback | undefined;
  /** Asked when none of the others is given: see `defaultConfirm`. */
  readonly defaultCallback: ApprovalCallback;
  /** Where requests wait. @default in memory */
  readonly store?: ApprovalStore | undefined;
  readonly clock: Pick<Clock, 'now'>;
  readonly onEvent?: ((event: ApprovalEvent) => void) | undefined;
  /** Told of every outcome. What it cannot take down is not approved. */
  readonly audit?: ((request: ApprovalRequest, result: ApprovalResult, at: number) => void | Promise<void>) | undefined;
}

/** Seed 003, ApprovalManager: the library's way to ask, for programs that run the guard themselves. */
export interface ApprovalManager {
  request(request: ApprovalRequest): Promise<ApprovalResult>;
  /** `request` of kind `tool`. */
  confirmTool(request: Omit<ApprovalRequest, 'kind'>): Promise<ApprovalResult>;
  /** `request` of kind `node`. */
  approveNode(request: Omit<ApprovalRequest, 'kind'>): Promise<ApprovalResult>;
  /**
   * Decides one that waits, from outside. Errors: NOT_FOUND, BAD_REQUEST (a result that decides nothing), ALREADY_DECIDED
   * (otherwise; the same again is no error).
   */
  resolveRequest(requestId: string, result: unknown): Promise<ApprovalResult>;
  /** The result of one that waited, once: whoever takes it has consumed it. */
  popResolved(requestId: string): Promise<ApprovalResult | undefined>;
}

export function createApprovalManager(options: ApprovalManagerOptions): ApprovalManager {
  const store = options.store ?? inMemoryApprovalStore();
  const manager: ApprovalManager = {
    request: (request) => ask(options, store, request),
    confirmTool: (request) => manager.request({ ...request, kind: 'tool' }),
    approveNode: (request) => manager.request({ ...request, kind: 'node' }),
    resolveRequest: (requestId, result) => resolve(options, store, requestId, result),
    async popResolved(requestId) {
      const result = await store.getResult(requestId);
      if (result) await store.ackResult(requestId);
      return result;
    },
  };
  return manager;
}

async function ask(options: ApprovalManagerOptions, store: ApprovalStore, request: ApprovalRequest): Promise<ApprovalResult> {
  if (await store.getRequest(request.requestId)) return { outcome: 'pending' };
  options.onEvent?.({ type: 'approval.requested', at: options.clock.now(), request });
  const result = await answerOf(callbackFor(options, request), request);
  if (result.outcome !== 'pending') return conclude(options, request, result);
  await options.audit?.(request, result, options.clock.now());
  await store.putRequest(request);
  return result;
}

/** Explicit before the kind's own before the default (seed 003). */
function callbackFor(options: ApprovalManagerOptions, { kind }: ApprovalRequest): ApprovalCallback {
  return options.callback ?? (kind === 'tool' ? options.toolCallback : options.nodeCallback) ?? options.defaultCallback;
}

async function answerOf(callback: ApprovalCallback, request: ApprovalRequest): Promise<ApprovalResult> {
  try {
    return normalized(await callback(request));
  } catch (error) {
    return { outcome: 'rejected', reason: `the approval callback failed: ${error instanceof Error ? error.message : String(error)}` };
  }
}

async function conclude(options: ApprovalManagerOptions, request: ApprovalRequest, result: ApprovalResult): Promise<ApprovalResult> {
  let final = result;
  try {
    await options.audit?.(request, result, options.clock.now());
  } catch (error) {
    final = { outcome: 'rejected', reason: `it could not be recorded: ${error instanceof Error ? error.message : String(error)}` };
  }
  options.onEvent?.({ type: 'approval.resolved', at: options.clock.now(), request, result: final });
  return final;
}

async function resolve(options: ApprovalManagerOptions, store: ApprovalStore, requestId: string, given: unknown): Promise<ApprovalResult> {
  const request = await store.getRequest(requestId);
  if (!request) throw new HandrailError('NOT_FOUND', `no request ${requestId} waits for a decision`, { field: 'requestId' });
  const result = normalized(given);
  if (result.outcome === 'pending') throw new HandrailError('BAD_REQUEST', 'a decision approves or rejects', { field: 'result' });
  const standing = await store.getResult(requestId);
  if (standing?.outcome === result.outcome) return standing;
  if (standing)
    throw new HandrailError('ALREADY_DECIDED', `${requestId} is ${standing.outcome} already`, { extra: { status: standing.outcome } });
  const final = await conclude(options, request, result);
  if (await store.resolveRequest(requestId, final)) return final;
  throw new HandrailError('ALREADY_DECIDED', `${requestId} was decided meanwhile`);
}

const WORDS: ReadonlyMap<string, ApprovalResult['outcome']> = new Map([
  ...['approved', 'approve', 'allow', 'yes', 'y', 'true'].map((word) => [word, 'approved'] as const),
  ...['rejected', 'reject', 'deny', 'no', 'n', 'false'].map((word) => [word, 'rejected'] as const),
  ['pending', 'pending'] as const,
]);

/** What a callback may answer, as one shape. Nothing is approved by mistake: what is not understood is rejected. */
export function normalized(answer: unknown): ApprovalResult {
  if (typeof answer === 'boolean') return { outcome: answer ? 'approved' : 'rejected' };
  if (typeof answer === 'string') {
    const outcome = WORDS.get(answer.trim().toLowerCase());
    return outcome ? { outcome } : { outcome: 'rejected', reason: `"${answer.slice(0, 100)}" is no decision` };
  }
  if (typeof answer === 'object' && answer !== null && 'outcome' in answer) {
    const outcome = approvalOutcomes.find((known) => known === answer.outcome);
    const text = (key: 'reason' | 'by'): string | undefined => {
      const value: unknown = Reflect.get(answer, key);
      return typeof value === 'string' ? value : undefined;
    };
    if (outcome) return { outcome, reason: text('reason'), by: text('by') };
  }
  return { outcome: 'rejected', reason: 'the answer of the approval callback was not understood' };
}
