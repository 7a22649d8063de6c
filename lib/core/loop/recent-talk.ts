import { type Frame, MAIN } from './frames.ts';
import { type Step, transcript } from './step.ts';
import { observationText, type Turn, toTurns } from './transcript.ts';

/**
 * The newest `limit` messages of the conversation, told in words for a child that has not taken part in it: whole groups
 * of call and observation, and none that is still open, so it ends before what opened the child (design 3.6).
 */
export async function recentTalk(step: Step, limit: number): Promise<string[]> {
  const main = step.run.frames.find((frame: Frame) => frame.namespace === MAIN);
  if (!main || main.kind === 'tree' || limit <= 0) return [];
  const turns = toTurns(await transcript(step, main)).filter(
    (turn) => turn.kind === 'user' || turn.calls.every(({ observation }) => observation),
  );
  const told: string[] = [];
  let size = 0;
  for (const turn of turns.toReversed()) {
    size += turn.kind === 'user' ? 1 : 1 + turn.calls.length;
    if (size > limit) break;
    told.unshift(tell(turn));
  }
  return told.length === 0 ? [] : [`The conversation so far:\n\n${told.join('\n\n')}`];
}

function tell(turn: Turn): string {
  if (turn.kind === 'user') return `User: ${turn.text}`;
  const calls = turn.calls.map(
    ({ call, observation }) =>
      `[called ${call.tool} with ${JSON.stringify(call.arguments)}; it gave: ${observation ? observationText(observation.result) : ''}]`,
  );
  return [`Assistant: ${turn.text}`, ...calls].join('\n');
}
