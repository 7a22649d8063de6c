import { LOOP_MEMORY, LOOP_RESULTS } from '../limits.ts';
import type { Repeat } from '../loop/frames.ts';

/** `run`; `refuse`: answer LOOP_DETECTED without running; `end`: it was refused and asked again, the frame ends with outcome `loop`. */
export type LoopVerdict = 'run' | 'refuse' | 'end';

/** Hex digits of a hash that are kept: enough to tell a dozen calls apart, small in the run item. */
const KEPT = 12;

/**
 * What to do with a request for a call that may have been made before (design 6.4). `callKey`: hash of tool and arguments.
 * Changes nothing: judge all calls of a batch first, then `noteRefusal` those refused, so that two equal calls of one message
 * are one request.
 */
export function verdict(repeats: readonly Repeat[], callKey: string): LoopVerdict {
  const repeat = find(repeats, callKey);
  if (!repeat || repeat.count < LOOP_RESULTS) return 'run';
  return repeat.refused ? 'end' : 'refuse';
}

/** Notes, in place, that a call was answered LOOP_DETECTED. */
export function noteRefusal(repeats: Repeat[], callKey: string): void {
  const repeat = find(repeats, callKey);
  if (repeat) moveToEnd(repeats, { ...repeat, refused: true });
}

/** Notes, in place, what a call came to: equal results in a row are counted, another result starts anew. The latest calls are kept. */
export function noteResult(repeats: Repeat[], callKey: string, resultHash: string): void {
  const result = resultHash.slice(0, KEPT);
  const before = find(repeats, callKey);
  const count = before?.result === result ? before.count + 1 : 1;
  moveToEnd(repeats, { call: callKey.slice(0, KEPT), result, count, refused: false });
}

function find(repeats: readonly Repeat[], callKey: string): Repeat | undefined {
  return repeats.find((repeat) => repeat.call === callKey.slice(0, KEPT));
}

function moveToEnd(repeats: Repeat[], repeat: Repeat): void {
  const place = repeats.findIndex(({ call }) => call === repeat.call);
  if (place >= 0) repeats.splice(place, 1);
  repeats.push(repeat);
  if (repeats.length > LOOP_MEMORY) repeats.splice(0, repeats.length - LOOP_MEMORY);
}
