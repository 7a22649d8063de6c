import { MAIN } from '../ids.ts';
import { FENCE_NOTE, fence } from '../outside.ts';
import type { Frame } from './frames.ts';
import { type Step, transcript } from './step.ts';
import { observationText, type Turn, toTurns } from './transcript.ts';

export interface RecentTalk {
  readonly text: string;
  /** Strangers wrote some of it. */
  readonly untrusted: boolean;
}

/**
 * The newest `limit` messages of the conversation, told in words for a child that has not taken part in it: whole groups
 * of call and observation, and none that is still open, so it ends before what opened the child (design 3.6). All of it
 * reaches the child as words of the user, so what the agent said and was given is marked once it has read what strangers
 * wrote: it may have repeated that, and it could pass for a turn of the user.
 */
export async function recentTalk(step: Step, limit: number): Promise<RecentTalk | undefined> {
  const main = step.run.frames.find((frame: Frame) => frame.namespace === MAIN);
  if (!main || main.kind === 'tree' || limit <= 0) return undefined;
  const messages = await transcript(step, main);
  // What earlier runs of the session have read is known by their messages alone.
  const untrusted = main.untrusted ?? messages.some(({ message }) => 'untrusted' in message && message.untrusted === true);
  const turns = toTurns(messages).filter((turn) => turn.kind === 'user' || turn.calls.every(({ observation }) => observation));
  const told: string[] = [];
  let size = 0;
  for (const turn of turns.toReversed()) {
    size += turn.kind === 'user' ? 1 : 1 + turn.calls.length;
    if (size > limit) break;
    told.unshift(tell(turn, untrusted));
  }
  if (told.length === 0) return undefined;
  return { text: ['The conversation so far:', ...told, ...(untrusted ? [FENCE_NOTE] : [])].join('\n\n'), untrusted };
}

function tell(turn: Turn, untrusted: boolean): string {
  if (turn.kind === 'user') return `User: ${turn.text}`;
  const calls = turn.calls.map(
    ({ call, observation }) =>
      `[called ${call.tool} with ${JSON.stringify(call.arguments)}; it gave: ${observation ? observationText(observation.result) : ''}]`,
  );
  const said = [turn.text, ...calls].join('\n');
  return `Assistant: ${untrusted ? fence(said) : said}`;
}
