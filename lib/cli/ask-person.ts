import { createInterface } from 'node:readline/promises';
import type { ApprovalView } from '../api/views/approval-view.ts';
import type { CliContext } from './context.ts';
import { duration, oneLine, visible } from './display-text.ts';
import { pauseOr } from './interrupt.ts';
import type { Screen } from './screen.ts';

/** What of one argument is shown. */
const ARGUMENT = { lines: 40, characters: 4_000 } as const;
/** What was typed before the question stood there is no answer to it. */
const DRAIN_MS = 50;

/** A person can be asked: keyboard and screen are there, wherever stdout goes. */
export function isAttended({ stdin, stderr }: CliContext): boolean {
  return stdin.isTTY === true && stderr.isTTY === true;
}

/** The request as a person must see it: tool, every argument, the rule that asked, how long there is. */
export function showApproval(approval: ApprovalView, screen: Screen, now: number): void {
  const { bold, dim, yellow } = screen.style;
  screen.line();
  screen.line(`${yellow('?')} ${bold(approval.tool)} needs approval: ${oneLine(approval.reason, 300)}`);
  for (const [name, value] of Object.entries(approval.arguments)) showArgument(name, value, screen);
  if (approval.argumentsCut) screen.line(yellow('    the arguments are too large to be shown whole'));
  screen.line(dim(`    expires in ${duration(Math.max(0, approval.expiresAt - now))} · ${approval.approvalId}`));
}

/**
 * Asks `Approve? [y/N]`. Enter alone rejects. Undefined when `signal` ended the question first: Ctrl-C, or somebody else
 * decided.
 */
export async function askPerson(context: CliContext, question: string, signal: AbortSignal): Promise<'approve' | 'reject' | undefined> {
  await drain(context, signal);
  if (signal.aborted) return undefined;
  const reader = createInterface({
    input: context.stdin,
    output: context.stderr,
    terminal: true,
    historySize: 0,
  });
  // Ctrl-C reaches readline as a key; everything else of the CLI knows it as the signal.
  reader.on('SIGINT', () => context.signals.emit('SIGINT'));
  try {
    for (;;) {
      const answer = (await reader.question(question, { signal })).trim().toLowerCase();
      if (answer === 'y' || answer === 'yes') return 'approve';
      if (answer === 'n' || answer === 'no' || answer === '') return 'reject';
    }
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  } finally {
    reader.close();
    context.stdin.pause();
  }
}

async function drain({ stdin }: CliContext, signal: AbortSignal): Promise<void> {
  const drop = () => undefined;
  stdin.on('data', drop);
  stdin.resume();
  await pauseOr(DRAIN_MS, signal);
  stdin.off('data', drop);
  stdin.pause();
}

function showArgument(name: string, value: unknown, screen: Screen): void {
  const { bold, dim } = screen.style;
  const text = visible(typeof value === 'string' ? value : JSON.stringify(value, null, 2));
  const shown = text.slice(0, ARGUMENT.characters).toWellFormed().split('\n').slice(0, ARGUMENT.lines);
  const hidden = text.length - shown.join('\n').length;
  const label = `    ${bold(`${oneLine(name, 60)}:`)}`;
  if (shown.length === 1) screen.line(`${label} ${shown[0]}`);
  else {
    screen.line(label);
    for (const line of shown) screen.line(`      ${line}`);
  }
  if (hidden > 0) screen.line(dim(`      … ${hidden} more characters (handrail approvals --json shows all)`));
}
