import { canonicalJson } from '../../lib/core/json.ts';
import type { Run } from '../../lib/core/loop/run.ts';
import { readState, stateOf } from '../../lib/core/loop/shared-state.ts';
import { ended, type LoopRig } from './loop-rig.ts';

/** What must hold of a run that was played to its end. */
export async function violationsOf(rig: LoopRig, run: Run, decisions: ReadonlyMap<string, string>): Promise<string[]> {
  const found: string[] = [];
  const messages = await rig.transcript(run);
  const asked = messages.flatMap(({ message }) => (message.role === 'assistant' ? message.calls : []));
  const observed = messages.flatMap(({ message }) => (message.role === 'observation' ? [message] : []));
  // Every Lambda is tried again more often than faults strike, so nothing may be given up.
  if (run.outcome !== 'completed' && run.outcome !== 'cancelled')
    found.push(`the run ended as ${run.outcome}: ${run.error?.message ?? ''}`);
  if (!ended(run)) found.push(`the run has not ended: ${run.status} at step ${run.step}`);
  for (const call of asked) {
    const count = observed.filter((message) => message.callId === call.callId).length;
    if (count !== 1) found.push(`${call.callId} ${call.tool} has ${count} observations`);
  }
  if (observed.some((message) => !asked.some((call) => call.callId === message.callId))) found.push('an observation answers no call');
  if (messages.filter(({ message }) => message.role === 'user').length !== (run.step > 0 ? 1 : 0))
    found.push('the input does not stand once');
  for (const [callId, times] of rig.handled) {
    const tool = rig.handledTools.get(callId) ?? '';
    if (tool !== 'read' && times > 1) found.push(`${callId} ${tool} ran ${times} times`);
    if (tool === 'banned') found.push(`${callId} was denied and ran`);
  }
  found.push(...decisionViolations(rig, run, decisions, observed));
  found.push(...(await eventViolations(rig, run, asked, messages.filter(({ message }) => message.role === 'assistant').length)));
  const { state } = rig.stores;
  if ((state.permits?.leases ?? []).some((lease) => lease.until > rig.clock.now())) found.push('a permit is held');
  for (const suspension of state.suspensions.values())
    if (Object.values(suspension.approvals).some((approval) => approval.status === 'pending'))
      found.push(`${suspension.suspensionId} is pending`);
  return found;
}

/** The log tells of every answer of the LLM and of every end of a call once, in every frame. */
async function eventViolations(rig: LoopRig, run: Run, asked: readonly { callId: string }[], answers: number): Promise<string[]> {
  const found: string[] = [];
  const events = await rig.stores.through(async () => undefined).runs.readEvents(run, 0);
  const of = (...types: string[]) => events.filter(({ type }) => types.includes(type));
  const told = of('llm.call.completed').filter(({ data }) => data['frame'] === 'main').length;
  if (told !== answers) found.push(`${answers} answers of the LLM, ${told} of them in the log`);
  if (of('run.started').length !== (run.step > 0 ? 1 : 0) || of('run.finished').length !== (run.step > 0 ? 1 : 0))
    found.push('the run did not start and end once');
  const ends = of('tool.call.completed', 'tool.call.failed').map(({ data }) => String(data['callId']));
  const calls = [...asked.map(({ callId }) => callId), ...of('tool.call.started').map(({ data }) => String(data['callId']))];
  for (const callId of new Set([...calls, ...ends])) {
    const count = ends.filter((ended) => ended === callId).length;
    if (count !== 1) found.push(`the log tells of ${count} ends of ${callId}`);
  }
  if (of('frame.started').length < of('frame.ended').length) found.push('more frames ended than started');
  return found;
}

/** What a person decided is what happened: nothing rejected ran, nothing guarded ran unapproved. */
function decisionViolations(
  rig: LoopRig,
  run: Run,
  decisions: ReadonlyMap<string, string>,
  observed: readonly { callId: string; tool: string; result: { error?: { code: string } | undefined } }[],
): string[] {
  const found: string[] = [];
  const byCall = new Map([...decisions].map(([approvalId, decision]) => [approvalId.slice(approvalId.indexOf('.') + 1), decision]));
  for (const message of observed) {
    if (message.tool !== 'guarded') continue;
    const decision = byCall.get(message.callId);
    const ran = rig.handled.has(message.callId);
    const code = message.result.error?.code;
    if (ran && decision !== 'approve' && !approvedInStore(rig, message.callId)) found.push(`${message.callId} ran and nobody approved it`);
    if (decision === 'reject' && code !== 'APPROVAL_REJECTED' && run.outcome === 'completed')
      found.push(`${message.callId} was rejected and is observed as ${code ?? 'ok'}`);
    if (
      decision === 'approve' &&
      !ran &&
      run.outcome === 'completed' &&
      code !== 'OUTCOME_UNKNOWN' &&
      !(code === 'GUARD_DENIED' && rig.stores.state.policies.size > 0)
    )
      found.push(`${message.callId} was approved and did not run: ${code ?? 'ok'}`);
  }
  return found;
}

/** A decision whose answer got lost stands all the same. */
function approvedInStore(rig: LoopRig, callId: string): boolean {
  return [...rig.stores.state.suspensions.values()].some((suspension) =>
    ['approved', 'edited'].includes(suspension.approvals[callId]?.status ?? ''),
  );
}

/** What a procedure kept in the session is there, whole; and nothing is, where none has begun. */
export async function stateViolations(rig: LoopRig, run: Run, document: string): Promise<string[]> {
  const { runs } = rig.stores.through(async () => undefined);
  const begun = (await runs.readEvents(run, 0)).some(({ type, data }) => type === 'frame.started' && data['name'] === 'procedure');
  const kept = await readState(runs, run, stateOf(undefined, run));
  const wanted = begun ? { notes: document, place: 7 } : {};
  return canonicalJson(kept) === canonicalJson(wanted) ? [] : [`the session keeps ${JSON.stringify(kept).slice(0, 200)}`];
}
