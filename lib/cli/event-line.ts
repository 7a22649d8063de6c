import { isJsonObject, type Json } from '../core/json.ts';
import type { ShownEvent } from './client.ts';
import { counted, duration, oneLine } from './display-text.ts';
import type { Style } from './screen.ts';

/** Characters of arguments and results on a line. */
const PREVIEW = 120;
const REASON = 300;

/** One event of the log as one line for people. Kinds this version does not know show with what they carry. */
export function eventLine({ type, data }: ShownEvent, style: Style): string {
  const { bold, dim, red, green, yellow, cyan } = style;
  const say = (name: string, characters = REASON): string => oneLine(text(data[name]), characters);
  const took = dim(typeof data['duration'] === 'number' ? duration(data['duration']) : '');
  switch (type) {
    case 'run.started':
      return dim(`started: agent ${say('agent')}, session ${say('sessionId')}`);
    case 'run.continued':
      return dim('goes on in a new execution');
    case 'run.recovered':
      return yellow('goes on after its engine was stopped');
    case 'run.cancel_requested':
      return yellow(`${say('by')} asked to cancel it`);
    case 'run.finished':
      return data['status'] === 'succeeded' ? green('finished') : red(`ended: ${say('outcome')}${reasonOf(data['error'])}`);
    case 'llm.call.completed':
      return dim(`${say('model')} ${asked(data['calls'])} (${duration(number(data['duration']))}, ${number(data['totalTokens'])} tokens)`);
    case 'llm.call.failed':
      return red(`${say('model')} failed: ${say('error')}`);
    case 'guard.decision':
      return guardLine(data, say, style);
    case 'approval.requested':
      return yellow(`? ${say('tool')} needs approval`);
    case 'approval.resolved':
      return approvalLine(say, style);
    case 'tool.call.started':
      return `${cyan('→')} ${bold(say('tool'))} ${dim(say('args_preview', PREVIEW))}`;
    case 'tool.call.progress':
      return dim(`… ${say('tool')} is at work, ${duration(number(data['elapsedMs']))}`);
    case 'tool.call.completed':
      return `${green('✓')} ${bold(say('tool'))} ${took} ${dim(say('result_preview', PREVIEW))}`;
    case 'tool.call.failed':
      return `${red('✗')} ${bold(say('tool'))} ${took} ${red(reasonOf(data['error']).replace(/^: /, ''))}`;
    default:
      return dim(`${oneLine(type, PREVIEW)} ${oneLine(JSON.stringify(data), PREVIEW)}`);
  }
}

/** Nothing to tell in a live view: the call starts, or the person is asked, next. */
export function isRoutine({ type, data }: ShownEvent): boolean {
  return type === 'guard.decision' && data['decision'] !== 'DENY';
}

function guardLine(data: ShownEvent['data'], say: (name: string) => string, { dim, red, yellow }: Style): string {
  const what = data['tool'] === undefined ? 'the LLM call' : say('tool');
  const why = `${say('checker')}: ${say('reason')}`;
  switch (data['decision']) {
    case 'ALLOW':
      return dim(`guard allows ${what} (${why})`);
    case 'DENY':
      return red(`guard denies ${what} (${why})`);
    default:
      return yellow(`guard: ${what} needs a person (${why})`);
  }
}

function approvalLine(say: (name: string) => string, { green, yellow }: Style): string {
  const status = say('status');
  const reason = say('reason');
  const by = say('by');
  const line = `${say('tool')} was ${status}${by ? ` by ${by}` : ''}${reason ? `: ${reason}` : ''}`;
  return status === 'approved' || status === 'edited' || status === 'answered' ? green(line) : yellow(line);
}

function asked(calls: Json | undefined): string {
  const count = number(calls);
  return count === 0 ? 'answered' : `asked for ${counted(count, 'tool call')}`;
}

function reasonOf(error: Json | undefined): string {
  if (!isJsonObject(error)) return '';
  return `: ${oneLine(`${text(error['code'])} ${text(error['message'])}`, REASON)}`;
}

const number = (value: Json | undefined): number => (typeof value === 'number' ? value : 0);

function text(value: Json | undefined): string {
  return value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);
}
