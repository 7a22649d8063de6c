import * as z from 'zod';
import { HandrailError } from '../errors.ts';
import type { Json } from '../json.ts';
import type { MessageWrite, RunStore, SessionKey } from '../ports/run-store.ts';
import type { Kept } from '../trees/node.ts';
import { messagePrefix } from './keys.ts';
import type { Run } from './run.ts';

/**
 * A value too large for the item that names it: an item of its own, beside the session's messages. `stored` is its size as
 * JSON, bytes; `at` the key prefix of the commit that holds it and nothing else.
 */
export const storedValueSchema = z.object({ stored: z.int(), at: z.string() });
export type StoredValue = z.infer<typeof storedValueSchema>;

/** Where the `n`th value of a commit stands. No other commit's lies beside it, so reading it reads nothing else. */
export function valuePrefix(run: Pick<Run, 'runSeq' | 'step' | 'attempt'>, n: number): string {
  return messagePrefix({ namespace: `value.${run.attempt}.${n}` }, run);
}

/** Values as they are written before the commit that names them. The keys hold the attempt: those of one that is lost are never read. */
export function valueWrites(run: Pick<Run, 'runSeq' | 'step' | 'attempt'>, values: readonly Kept[]): MessageWrite[] {
  return values.map(({ key, value }, n) => ({
    prefix: valuePrefix(run, n),
    prev: undefined,
    messages: [{ role: 'value', key, value }],
  }));
}

/** The values themselves, by key: one Query each. */
export async function readStored(
  runs: Pick<RunStore, 'readTranscript'>,
  session: SessionKey,
  stored: Readonly<Record<string, StoredValue>>,
): Promise<Record<string, Json>> {
  return Object.fromEntries(
    await Promise.all(
      Object.entries(stored).map(async ([key, { at }]): Promise<[string, Json]> => {
        const [found] = await runs.readTranscript(session, at, 1);
        if (found?.message.role !== 'value') throw new HandrailError('INTERNAL', `there is no value at ${at}`);
        return [key, found.message.value];
      }),
    ),
  );
}
