import { visible } from '../../visible.ts';
import type { ApprovalCallback } from './manager.ts';

/** Characters of the arguments that are shown on a terminal. */
const SHOWN = 4_000;

/** A screen and a keyboard, or the lack of them. */
export interface Terminal {
  /** Somebody sits there: both are terminals. */
  readonly interactive: boolean;
  /** Shows the text and gives the line that was typed. */
  ask(question: string): Promise<string>;
}

export interface DefaultConfirmOptions {
  /** Decides without asking anybody (`execution.confirm_default` of the seed, `guard.confirm_default` here). */
  readonly confirmDefault?: 'allow' | 'deny' | undefined;
  /** Without a terminal: leave the request to people instead of rejecting it. */
  readonly nonTtyPending: boolean;
  readonly terminal: Terminal;
}

/**
 * Seed 003, default_confirm_callback: `confirm_default` decides; else without a terminal it is rejected, or left pending by
 * `non_tty_pending`; else the person at the terminal is asked, and only a yes is a yes.
 */
export function defaultConfirm({ confirmDefault, nonTtyPending, terminal }: DefaultConfirmOptions): ApprovalCallback {
  return async (request) => {
    if (confirmDefault !== undefined) return { outcome: confirmDefault === 'allow' ? 'approved' : 'rejected', by: 'confirm_default' };
    if (!terminal.interactive)
      return nonTtyPending ? 'pending' : { outcome: 'rejected', reason: 'there is no terminal to ask on', by: 'no terminal' };
    const args = visible(JSON.stringify(request.arguments, null, 2))
      .slice(0, SHOWN)
      .toWellFormed();
    const line = await terminal.ask(`${visible(request.name)} needs approval (${visible(request.reason)}):\n${args}\nApprove? [y/N] `);
    return { outcome: /^\s*y(?:es)?\s*$/i.test(line) ? 'approved' : 'rejected', by: 'terminal' };
  };
}
