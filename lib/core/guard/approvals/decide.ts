import type { Config } from '../../config.ts';
import { HandrailError, unreachable } from '../../errors.ts';
import { readArguments } from '../../hands/arguments.ts';
import type { Registry } from '../../hands/registry.ts';
import { approvalIdOf, parseApprovalId } from '../../ids.ts';
import { canonicalJson, type JsonObject, jsonBytes, utf8Bytes } from '../../json.ts';
import { ARGUMENTS_BYTES, RESULT_BYTES } from '../../limits.ts';
import { identityOf } from '../../principal.ts';
import { deliver } from './deliver.ts';
import { type ApprovalDeps, CHANGE_ATTEMPTS } from './deps.ts';
import { expireDue, reportResolved } from './expire.ts';
import { SUSPENSION_ITEM_BYTES } from './open.ts';
import { type Approval, type ApprovalDecision, pendingCalls, type Suspension } from './suspension.ts';

/** Bytes of a reason: it goes to the LLM with the observation. */
export const REASON_BYTES = 2_048;

export interface DecisionRequest {
  readonly approvalId: string;
  readonly decision: 'approve' | 'reject' | 'answer';
  readonly reason?: string | undefined;
  /** With `approve`: what runs instead of what was asked for. Checked here, and with the guard again by the woken step. */
  readonly arguments?: JsonObject | undefined;
  /** With `answer`. */
  readonly answer?: string | undefined;
}

export interface DecideInput {
  readonly tenant: string;
  readonly principal: string;
  /** `api`, `page`, or `cli`, which is the client's own word */
  readonly how: string;
  /** All of one suspension; they are made together or not at all. */
  readonly decisions: readonly DecisionRequest[];
}

export interface DecideDeps extends ApprovalDeps {
  readonly config: { readonly approvals: Pick<Config['approvals'], 'self_approve'> };
  readonly registry: Pick<Registry, 'get'>;
}

export interface DecidedApproval {
  readonly approvalId: string;
  readonly runId: string;
  readonly approval: Approval;
}

/**
 * A person's decisions (design 5.3). Recorded first, delivered second: once this returns they are never lost, even if the
 * run cannot be woken now. The same decision again is no error. Errors: NOT_FOUND (also for another tenant's), FORBIDDEN
 * (`approvals.self_approve: false`), ALREADY_DECIDED, EXPIRED, BAD_REQUEST, INVALID_ARGUMENTS (edited ones that the tool would
 * refuse) and PAYLOAD_TOO_LARGE with the field, CONFLICT under too many writers.
 */
export async function decide(deps: DecideDeps, input: DecideInput): Promise<DecidedApproval[]> {
  const suspensionId = oneSuspension(input.decisions);
  let suspension = await deps.guard.getSuspension(suspensionId);
  for (let attempt = 0; attempt < CHANGE_ATTEMPTS; attempt++) {
    if (suspension?.tenant !== input.tenant) throw notFound();
    const wanted = read(suspension, input, deps.clock.now());
    if (!deps.config.approvals.self_approve) refuseOwn(suspension, input.principal, wanted);
    const open = await stillOpen(deps, suspension, wanted);
    if (open.length === 0) return finish(deps, suspension, wanted);
    refuseInvalid(deps, suspension, open);
    refuseTooLarge(suspension, open);
    const outcome = await deps.guard.changeSuspension(suspensionId, {
      kind: 'decide',
      now: deps.clock.now(),
      decisions: open.map(written),
    });
    if (outcome.applied && outcome.suspension) {
      // Of the last one `deliver` tells.
      if (pendingCalls(outcome.suspension).length > 0) await reportResolved(deps, outcome.suspension);
      return finish(deps, outcome.suspension, wanted);
    }
    suspension = outcome.suspension;
  }
  throw new HandrailError('CONFLICT', 'others keep deciding here; read the current state and try again');
}

interface Wanted {
  readonly callId: string;
  /** Where a part of the request stands in it. */
  readonly field: (name: string) => string;
  readonly status: 'approved' | 'edited' | 'rejected' | 'answered';
  readonly decision: ApprovalDecision;
}

const written = ({ callId, status, decision }: Wanted) => ({ callId, status, decision });

/** Wakes the run if that was the last one. Also after a repeated decision, whose first delivery may have failed. */
async function finish(deps: ApprovalDeps, suspension: Suspension, wanted: readonly Wanted[]): Promise<DecidedApproval[]> {
  await deliver(deps, suspension);
  const { suspensionId, runId } = suspension;
  return wanted.map(({ callId }) => ({ approvalId: approvalIdOf(suspensionId, callId), runId, approval: approvalOf(suspension, callId) }));
}

/** Those that have yet to be written. Throws when one was decided otherwise, or its time is over (and then expires it). */
async function stillOpen(deps: ApprovalDeps, suspension: Suspension, wanted: readonly Wanted[]): Promise<Wanted[]> {
  const now = deps.clock.now();
  const open = wanted.filter((one) => {
    const approval = approvalOf(suspension, one.callId);
    if (approval.status === 'pending') return true;
    if (approval.status === 'expired') throw expired(approval);
    if (!isSame(approval, one))
      throw new HandrailError('ALREADY_DECIDED', `${one.callId} is ${approval.status} already`, {
        field: 'decision',
        extra: { status: approval.status },
      });
    return false;
  });
  const late = open.find((one) => approvalOf(suspension, one.callId).expiresAt <= now);
  if (!late) return open;
  const after = await expireDue(deps, suspension);
  await deliver(deps, after);
  throw expired(approvalOf(after, late.callId));
}

function isSame(approval: Approval, { status, decision }: Wanted): boolean {
  if (approval.status !== status) return false;
  switch (status) {
    case 'approved':
    case 'rejected':
      return true;
    case 'edited':
      return canonicalJson(approval.decision?.arguments ?? {}) === canonicalJson(decision.arguments ?? {});
    case 'answered':
      return approval.decision?.answer === decision.answer;
    default:
      return unreachable(status);
  }
}

/** The requests checked against what was asked; repeats of one request are one. */
function read(suspension: Suspension, input: DecideInput, at: number): Wanted[] {
  const wanted = new Map<string, Wanted>();
  for (const [index, request] of input.decisions.entries()) {
    const callId = parseApprovalId(request.approvalId)?.callId;
    if (callId === undefined || !Object.hasOwn(suspension.approvals, callId)) throw notFound();
    const approval = approvalOf(suspension, callId);
    const field = (name: string): string => (input.decisions.length > 1 ? `decisions/${index}/${name}` : name);
    const one: Wanted = { callId, field, ...outcomeOf(approval, request, field), decision: decisionOf(request, input, at) };
    const earlier = wanted.get(callId);
    if (earlier && !isSame({ ...approval, status: earlier.status, decision: earlier.decision }, one))
      throw new HandrailError('BAD_REQUEST', `${request.approvalId} is decided twice in different ways`, { field: field('decision') });
    if (!earlier) wanted.set(callId, one);
  }
  return [...wanted.values()];
}

function outcomeOf(approval: Approval, request: DecisionRequest, field: (name: string) => string): Pick<Wanted, 'status'> {
  const refuse = (name: string, message: string): never => {
    throw new HandrailError('BAD_REQUEST', message, { field: field(name) });
  };
  const { decision, reason, answer, arguments: edited } = request;
  const choices = choicesOf(approval);
  if (reason !== undefined && utf8Bytes(reason) > REASON_BYTES) refuse('reason', `a reason has at most ${REASON_BYTES} bytes`);
  if (edited !== undefined && decision !== 'approve') refuse('arguments', 'only an approval can change the arguments');
  if (answer !== undefined && decision !== 'answer') refuse('answer', 'an answer goes with the decision "answer"');
  switch (decision) {
    case 'reject':
      return { status: 'rejected' };
    case 'answer':
      if (approval.kind !== 'question') refuse('decision', `${approval.tool} is not a question: approve or reject it`);
      if (answer === undefined) refuse('answer', 'the answer is missing');
      else if (utf8Bytes(answer) > RESULT_BYTES) refuse('answer', `an answer has at most ${RESULT_BYTES} bytes`);
      else if (choices && !choices.includes(answer)) refuse('answer', `answer with one of: ${choices.join(' | ')}`);
      return { status: 'answered' };
    case 'approve':
      if (approval.kind === 'question') refuse('decision', 'a question is answered or rejected');
      if (edited === undefined) return { status: 'approved' };
      if (approval.kind !== 'tool') refuse('arguments', 'only the arguments of a tool call can be changed');
      // What was cut away would be lost, and what says so would be written in its place.
      if (approval.argumentsCut)
        refuse('arguments', 'arguments that are too large to be shown whole cannot be changed: approve or reject them');
      if (jsonBytes(edited) > ARGUMENTS_BYTES) refuse('arguments', `arguments have at most ${ARGUMENTS_BYTES} bytes`);
      return { status: 'edited' };
    default:
      return unreachable(decision);
  }
}

/** The only answers that a question takes; undefined when it takes any, or when they were too large to be kept whole. */
export function choicesOf({ arguments: { choices }, argumentsCut }: Pick<Approval, 'arguments' | 'argumentsCut'>): string[] | undefined {
  if (argumentsCut || !Array.isArray(choices) || choices.length === 0) return undefined;
  return choices.filter((choice) => typeof choice === 'string');
}

function decisionOf({ reason, answer, arguments: edited }: DecisionRequest, { principal, how }: DecideInput, at: number): ApprovalDecision {
  return {
    by: principal,
    at,
    how,
    ...(reason === undefined ? {} : { reason: reason.toWellFormed() }),
    ...(edited === undefined ? {} : { arguments: edited }),
    ...(answer === undefined ? {} : { answer: answer.toWellFormed() }),
  };
}

/** Rejecting what one asked for, and answering questions about it, allows nothing that another would have to allow. */
function refuseOwn(suspension: Suspension, principal: string, wanted: readonly Wanted[]): void {
  const same = identityOf(suspension.principal) === identityOf(principal);
  const own = same && wanted.some(({ status }) => status === 'approved' || status === 'edited');
  if (own)
    throw new HandrailError('FORBIDDEN', 'you started this run, or your role did: another one has to approve what it does', {
      field: 'decision',
    });
}

/**
 * Edited arguments that the tool would refuse: while the approval is open they can be corrected, and once it is used up
 * nobody is asked again. A tool that has gone meanwhile is for the woken step to tell of.
 */
function refuseInvalid({ registry }: DecideDeps, suspension: Suspension, decisions: readonly Wanted[]): void {
  for (const { callId, decision, field } of decisions) {
    const definition = registry.get(approvalOf(suspension, callId).tool);
    const read = definition && decision.arguments && readArguments(decision.arguments, definition);
    if (!read || read.ok) continue;
    const { message, field: path, suggestions } = read.error;
    const place = path === undefined ? '' : `/${path.replaceAll('.', '/')}`;
    throw new HandrailError('INVALID_ARGUMENTS', message, { field: `${field('arguments')}${place}`, suggestions });
  }
}

function refuseTooLarge(suspension: Suspension, decisions: readonly Wanted[]): void {
  if (jsonBytes(suspension) + jsonBytes(decisions.map(written)) <= SUSPENSION_ITEM_BYTES) return;
  throw new HandrailError(
    'PAYLOAD_TOO_LARGE',
    'these decisions are too large to be kept together: decide fewer at a time, or change less',
    { field: 'arguments' },
  );
}

function oneSuspension(decisions: readonly DecisionRequest[]): string {
  const ids = decisions.map(({ approvalId }) => parseApprovalId(approvalId)?.suspensionId);
  const [first] = ids;
  if (ids.length === 0) throw new HandrailError('BAD_REQUEST', 'there is nothing to decide', { field: 'decisions' });
  if (first === undefined || ids.includes(undefined)) throw notFound();
  if (ids.some((id) => id !== first))
    throw new HandrailError('BAD_REQUEST', 'decide the approvals of one suspension at a time', { field: 'decisions' });
  return first;
}

function approvalOf(suspension: Suspension, callId: string): Approval {
  const approval = suspension.approvals[callId];
  if (!approval) throw notFound();
  return approval;
}

/** The same for an unknown id and for another tenant's: neither is told apart. */
const notFound = (): HandrailError => new HandrailError('NOT_FOUND', 'there is no such approval');
const expired = ({ callId, expiresAt }: Approval): HandrailError =>
  new HandrailError('EXPIRED', `the time to decide on ${callId} was over at ${new Date(expiresAt).toISOString()}; it did not run`);
