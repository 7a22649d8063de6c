import type { Notice } from '../../core/ports/notices.ts';
import { visible } from '../../core/visible.ts';

/** Calls that a notice shows; the page shows them all. */
const SHOWN = 5;
const REASON_CHARACTERS = 200;
const ARGUMENTS_CHARACTERS = 300;

/** What is asked, in a line: `write_file needs your decision`. */
export function headline({ approvals }: Notice): string {
  const [first] = approvals;
  if (!first) return 'A run needs your decision';
  if (approvals.length > 1) return `${approvals.length} calls need your decision`;
  return first.kind === 'question' ? 'An agent has a question for you' : `${first.tool} needs your decision`;
}

interface CallLine {
  readonly title: string;
  readonly reason: string;
  readonly arguments: string;
}

/** The calls, made safe to show: nothing in them turns text round or breaks a line. */
export function callLines({ approvals }: Notice): CallLine[] {
  return approvals.slice(0, SHOWN).map(({ kind, tool, reason, arguments: args }) => ({
    title: kind === 'question' ? 'Question' : tool,
    reason: oneLine(reason, REASON_CHARACTERS),
    arguments: oneLine(args, ARGUMENTS_CHARACTERS),
  }));
}

/** Calls that are not shown. */
export const hiddenCalls = ({ approvals }: Notice): number => Math.max(0, approvals.length - SHOWN);

export const taskLine = ({ task }: Notice): string => oneLine(task, REASON_CHARACTERS);

/** `2026-08-05 14:03 UTC` */
export function timeText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

function oneLine(text: string, characters: number): string {
  const line = visible(text).replaceAll(/\s+/g, ' ').trim();
  return line.length <= characters ? line : `${line.slice(0, characters - 1).toWellFormed()}…`;
}
