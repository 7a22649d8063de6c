import { HandrailError } from '../errors.ts';
import { expireDue } from '../guard/approvals/expire.ts';
import type { Approval } from '../guard/approvals/suspension.ts';
import { callHash } from '../guard/preflight.ts';
import { readArguments } from '../hands/arguments.ts';
import { noteResult } from '../hands/loop-detection.ts';
import type { ToolResult } from '../hands/result.ts';
import { hashJson } from '../hash.ts';
import type { Frame, OpenCall } from './frames.ts';
import { APPROVE_NODE } from './message.ts';
import { observe, refuse } from './observe.ts';
import { openCalls, type Step, say, topFrame, transcript } from './step.ts';
import { argumentsOf } from './transcript.ts';

/**
 * Takes the decisions of the suspension that the committed plan waits for (design 3.2.2 and 5.2). Nothing in the
 * payload is believed: they are read from the item. False when somebody has still to decide.
 */
export async function takeDecisions(step: Step, suspensionId: string): Promise<boolean> {
  const { guard, clock } = step.deps;
  const guessed = step.inputs.suspension;
  let suspension = guessed?.suspensionId === suspensionId ? guessed : await guard.getSuspension(suspensionId);
  if (!suspension) return false;
  suspension = await expireDue(step.deps, suspension);
  if (Object.values(suspension.approvals).some((approval) => approval.status === 'pending')) return false;
  const frame = topFrame(step.run);
  for (const call of openCalls(frame)) {
    const approval = suspension.approvals[call.callId];
    if (call.state !== 'blocked' || !approval) continue;
    if (approval.status === 'answered') await noteAnswer(step, frame, call, approval);
    applyDecision(step, frame, call, approval);
  }
  step.run.timings.personMs += clock.now() - suspension.createdAt;
  return true;
}

const expiredText = ({ kind }: Approval): string =>
  kind === 'question' ? 'nobody answered in time; go on without the answer' : 'nobody decided in time; the call did not run';

/** A question that keeps getting the same answer is a loop like any other (design 6.4): people must not be asked for ever. */
async function noteAnswer(step: Step, frame: Frame, call: OpenCall, approval: Approval): Promise<void> {
  const args = argumentsOf(await transcript(step), step.run.runSeq, call.callId);
  if (frame.kind === 'agent') noteResult(frame.repeats, hashJson([call.tool, args]), hashJson([true, approval.decision?.answer ?? '']));
}

function applyDecision(step: Step, frame: Frame, call: OpenCall, approval: Approval): void {
  const { decision } = approval;
  const why = decision?.reason ? `: ${decision.reason}` : '';
  switch (approval.status) {
    case 'approved':
      if (call.tool === APPROVE_NODE) {
        observe(step, frame, call, granted(step, call, approval));
        return;
      }
      call.state = 'ready';
      call.decision = { decision: 'approve', hash: approval.hash, by: decision?.by ?? 'unknown' };
      return;
    case 'edited':
      applyEdit(step, frame, call, approval);
      return;
    case 'rejected':
      observe(
        step,
        frame,
        call,
        refuse(step, call, new HandrailError('APPROVAL_REJECTED', `${decision?.by ?? 'a person'} rejected this call${why}`)),
      );
      return;
    case 'expired':
      observe(step, frame, call, refuse(step, call, new HandrailError('APPROVAL_EXPIRED', expiredText(approval))));
      return;
    case 'cancelled':
      observe(
        step,
        frame,
        call,
        refuse(step, call, new HandrailError('CANCELLED', 'cancelled before anybody decided; the call did not run')),
      );
      return;
    case 'answered': {
      const now = step.deps.clock.now();
      observe(step, frame, call, {
        success: true,
        data: decision?.answer ?? '',
        metadata: { toolName: call.tool, duration: 0, truncated: false, timestamp: now },
      });
      return;
    }
    case 'pending':
      throw new HandrailError('INTERNAL', `approval of ${call.callId} is pending after all were decided`);
  }
}

/** A node's approval is answered by being given: nothing runs for it. */
function granted(step: Step, call: OpenCall, { decision }: Approval): ToolResult {
  const metadata = { toolName: call.tool, duration: 0, truncated: false, timestamp: step.deps.clock.now() };
  return { success: true, data: `approved by ${decision?.by ?? 'a person'}`, metadata };
}

/** A person's arguments go through everything that the LLM's went through, and are approved by their own hash. */
function applyEdit(step: Step, frame: Frame, call: OpenCall, approval: Approval): void {
  const definition = step.deps.registry.get(call.tool);
  const by = approval.decision?.by ?? 'unknown';
  if (!definition) {
    observe(step, frame, call, refuse(step, call, new HandrailError('TOOL_NOT_FOUND', `the tool ${call.tool} is not there any more`)));
    return;
  }
  const read = readArguments(approval.decision?.arguments, definition);
  if (!read.ok) {
    observe(step, frame, call, refuse(step, call, read.error));
    return;
  }
  say(step, frame, { role: 'edit', callId: call.callId, arguments: read.arguments, by });
  call.hash = callHash(step.run.runId, call.callId, call.tool, read.arguments);
  call.decision = { decision: 'edit', hash: call.hash, by };
  call.state = 'ready';
}
