import type { ApprovalView } from '../api/views/approval-view.ts';
import type { RunView } from '../api/views/run-view.ts';
import { HandrailError } from '../core/errors.ts';
import { askPerson, isAttended, showApproval } from './ask-person.ts';
import type { ApiClient, Decision } from './client.ts';
import type { Command } from './command.ts';
import { Interrupted } from './failure.ts';
import { pauseOr } from './interrupt.ts';

const UNATTENDED = 'rejected by the command line, which had no terminal to ask on';
/** Another person may decide on the console meanwhile. */
const LOOK_MS = 1_000;

export interface DecideOptions {
  readonly client: ApiClient;
  readonly signal: AbortSignal;
  /** Without a terminal: leave what is asked for people (true), or reject it. Undefined: as the server is configured. */
  readonly nonTtyPending: boolean | undefined;
  readonly onInterrupt: string;
}

/**
 * What a run asks of people, decided: by the person at the terminal, one by one; without one rejected, or left. A decision
 * that somebody else made first stands.
 */
export async function decideApprovals(command: Command, run: RunView, options: DecideOptions): Promise<'decided' | 'leave'> {
  const attended = isAttended(command.context);
  if (!attended && (options.nonTtyPending ?? (await options.client.getPolicy('tenant')).nonTtyPending)) {
    for (const approval of run.approvals) showApproval(approval, command.screen, Date.now());
    return 'leave';
  }
  for (const approval of run.approvals) {
    showApproval(approval, command.screen, Date.now());
    if (attended) await decideAttended(command, approval, options);
    else await send(options.client, approval, { decision: 'reject', reason: UNATTENDED });
  }
  return 'decided';
}

async function decideAttended({ context, screen }: Command, approval: ApprovalView, options: DecideOptions): Promise<void> {
  const { client, signal } = options;
  const elsewhere = new AbortController();
  const asked = new AbortController();
  const watching = watch(client, approval, elsewhere, AbortSignal.any([signal, asked.signal]));
  try {
    const decision = await askPerson(context, approval, AbortSignal.any([signal, elsewhere.signal]));
    if (signal.aborted) {
      screen.line();
      throw new Interrupted(options.onInterrupt);
    }
    if (decision === undefined) screen.line('\n  decided elsewhere');
    else await send(client, approval, decision);
  } finally {
    asked.abort();
    await watching;
  }
}

/** Ends the question once it is settled without us. A server that does not answer settles nothing. */
async function watch(client: ApiClient, { approvalId }: ApprovalView, elsewhere: AbortController, until: AbortSignal): Promise<void> {
  while (!(await pauseOr(LOOK_MS, until))) {
    const now = await client.getApproval(approvalId).catch(() => undefined);
    if (now && now.status !== 'pending') return elsewhere.abort();
  }
}

async function send(client: ApiClient, { approvalId }: ApprovalView, decision: Decision): Promise<void> {
  try {
    await client.decide(approvalId, decision);
  } catch (error) {
    // Too late: the event log shows what became of it.
    if (!(error instanceof HandrailError && (error.code === 'ALREADY_DECIDED' || error.code === 'EXPIRED'))) throw error;
  }
}
