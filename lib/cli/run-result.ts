import type { RunView } from '../api/views/run-view.ts';
import type { Command } from './command.ts';
import { counted, duration, money, visible } from './display-text.ts';
import { EXIT, type ExitCode, exitCodeOf } from './exit-codes.ts';
import { printJson } from './print-json.ts';

/** The answer on stdout, everything about it on stderr; with `json` the run as the API gives it, on stdout. */
export function showResult({ context, screen }: Command, run: RunView, json: boolean): ExitCode {
  const code = exitCodeOf(run.status);
  if (json) {
    printJson(context, run);
    return code;
  }
  const { bold, dim, red } = screen.style;
  if (run.answer !== undefined) {
    if (screen.terminal) screen.line();
    const answer = context.stdout.isTTY ? visible(run.answer) : run.answer;
    context.stdout.write(answer.endsWith('\n') ? answer : `${answer}\n`);
    if (screen.terminal) screen.line();
  }
  if (run.error) screen.line(`${bold(red('error:'))} ${run.error.code}: ${visible(run.error.message)}`);
  if (code === EXIT.waiting) return code;
  screen.line(dim(summary(run)));
  return code;
}

function summary(run: RunView): string {
  const parts = [
    run.outcome === undefined || run.outcome === 'completed' ? run.status : `${run.status} (${run.outcome})`,
    duration((run.endedAt ?? run.updatedAt) - run.createdAt),
    counted(run.iterations, 'iteration'),
    counted(run.toolCalls, 'tool call'),
    `${run.usage.estimated ? 'about ' : ''}${run.usage.totalTokens} tokens`,
    money(run.cost),
  ];
  return `${parts.filter((part) => part !== '').join(' · ')} · ${run.runId}`;
}
