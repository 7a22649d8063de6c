import { createInterface } from 'node:readline/promises';
import type { ApprovalView } from '../api/views/approval-view.ts';
import type { Decision } from './client.ts';
import type { CliContext } from './context.ts';
import { duration, oneLine, visible } from './display-text.ts';
import { pauseOr } from './interrupt.ts';
import type { Screen } from './screen.ts';

/** What of one argument is shown. */
const ARGUMENT = { lines: 40, characters: 4_000 } as const;
const NO_ANSWER = 'the person gave no answer';
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
  const what = approval.kind === 'question' ? 'asks you a question' : `needs approval: ${oneLine(approval.reason, 300)}`;
  screen.line(`${yellow('?')} ${bold(approval.tool)} ${what}`);
  for (const [name, value] of Object.entries(approval.arguments)) showArgument(name, value, screen);
  if (approval.argumentsCut) screen.line(yellow('    the arguments are too large to be shown whole'));
  screen.line(dim(`    expires in ${duration(Math.max(0, approval.expiresAt - now))} · ${approval.approvalId}`));
}

/**
 * Asks `Approve? [y/N]`, or for the answer to a question. Enter alone rejects. Undefined when `signal` ended the question
 * first: Ctrl-C, or somebody else decided.
 */
export async function askPerson(context: CliContext, approval: ApprovalView, signal: AbortSignal): Promise<Decision | undefined> {
  const { prompt, read } = approval.kind === 'question' ? answering(approval) : APPROVING;
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
      const decision = read((await reader.question(prompt, { signal })).trim());
      if (decision) return decision;
    }
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  } finally {
    reader.close();
    context.stdin.pause();
  }
}

interface Question {
  readonly prompt: string;
  /** What was typed as a decision; undefined = ask again. */
  read(line: string): Decision | undefined;
}

const APPROVING: Question = {
  prompt: '  Approve? [y/N] ',
  read(line) {
    const word = line.toLowerCase();
    if (word === 'y' || word === 'yes') return { decision: 'approve' };
    return word === 'n' || word === 'no' || word === '' ? { decision: 'reject' } : undefined;
  },
};

function answering({ arguments: { choices }, argumentsCut }: ApprovalView): Question {
  const only = !argumentsCut && Array.isArray(choices) ? choices.filter((choice) => typeof choice === 'string') : [];
  return {
    prompt: only.length > 0 ? `  Answer (1-${only.length}, or its text; Enter alone gives none) ` : '  Answer (Enter alone gives none) ',
    read(line) {
      if (line === '') return { decision: 'reject', reason: NO_ANSWER };
      if (only.length === 0) return { decision: 'answer', answer: line };
      const chosen = only.find((choice) => choice === line) ?? only[Number(line) - 1];
      return chosen === undefined ? undefined : { decision: 'answer', answer: chosen };
    },
  };
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
