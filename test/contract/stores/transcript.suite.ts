import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Message, PlacedMessage } from '../../../lib/core/loop/message.ts';
import type { MessageWrite, RunStore, SessionKey } from '../../../lib/core/ports/run-store.ts';
import type { StoreSet } from '../../support/dynalite.ts';
import { assistantMessage, newRunId, newTenant, observation, prefixOf, userMessage, writeOf } from './samples.ts';

const texts = (placed: readonly PlacedMessage[]): string[] =>
  placed.map(({ message }) => (message.role === 'user' || message.role === 'assistant' ? message.text : message.role));

/** What any RunStore must do with messages. */
export function transcriptContract(stores: () => StoreSet): void {
  const runs = (): RunStore => stores().runs;
  const newKey = (): SessionKey => ({ tenant: newTenant(), sessionId: 's-1' });
  const write = async (key: SessionKey, ...writes: MessageWrite[]): Promise<void> =>
    runs().write({ tenant: key.tenant, runId: newRunId() }, key.sessionId, writes, []);

  describe('transcripts', () => {
    it('are empty without a head', async () => {
      expect(await runs().readTranscript(newKey(), undefined, 10)).toEqual([]);
    });

    it('follow the chain of commits over steps and runs, oldest first', async () => {
      const key = newKey();
      const [a, b, c] = [prefixOf(1, 1, 'a'), prefixOf(1, 4, 'b'), prefixOf(2, 1, 'c')];
      await write(key, writeOf(a, undefined, userMessage('one'), assistantMessage('two', ['c1-0'])));
      await write(key, writeOf(b, a, observation('c1-0', 'data'), assistantMessage('three')));
      await write(key, writeOf(c, b, userMessage('four')));
      const all = await runs().readTranscript(key, c, 100);
      expect(texts(all)).toEqual(['one', 'two', 'observation', 'three', 'four']);
      expect(all.map(({ runSeq, step, index }) => [runSeq, step, index])).toEqual([
        [1, 1, 0],
        [1, 1, 1],
        [1, 4, 0],
        [1, 4, 1],
        [2, 1, 0],
      ]);
      expect(texts(await runs().readTranscript(key, b, 100))).toEqual(['one', 'two', 'observation', 'three']);
    });

    it('hold values too large for an item, each alone in its commit', async () => {
      const key = newKey();
      const value = (text: string): Message => ({ role: 'value', key: 'notes', value: text });
      const place = (attempt: string, n: number) => prefixOf(1, 2, attempt, `value.${attempt}.${n}`);
      await write(key, writeOf(place('a', 0), undefined, value('é'.repeat(480_000))), writeOf(place('a', 1), undefined, value('one')));
      await write(key, writeOf(place('lost', 0), undefined, value('never committed')));
      const read = async (prefix: string) => (await runs().readTranscript(key, prefix, 1)).map(({ message }) => message);
      expect(await read(place('a', 0))).toEqual([value('é'.repeat(480_000))]);
      expect(await read(place('a', 1))).toEqual([value('one')]);
    });

    it('of one run are listed with every frame, lost commits and parts of large messages, and no other run', async () => {
      const key = newKey();
      const [a, lost, child, b] = [
        prefixOf(1, 1, 'a'),
        prefixOf(1, 2, 'x'),
        prefixOf(1, 2, 'm', 'skill_runtime.s_c1-0'),
        prefixOf(2, 1, 'c'),
      ];
      const large = userMessage('é'.repeat(200_000));
      await write(key, writeOf(a, undefined, large, assistantMessage('two')), writeOf(lost, a, userMessage('lost')));
      await write(key, writeOf(child, undefined, userMessage('child')), writeOf(b, a, userMessage('later')));
      const commits = await runs().listCommits(key, 1);
      expect(commits.map(({ prefix, prev }) => [prefix, prev])).toEqual([
        [a, undefined],
        [lost, a],
        [child, undefined],
      ]);
      expect(commits[0]?.messages).toEqual([large, assistantMessage('two')]);
      expect(await runs().listCommits(newKey(), 1)).toEqual([]);
    });

    it('are gone with their session, and those of another session stay', async () => {
      const [key, other] = [newKey(), { ...newKey(), sessionId: 's-2' }];
      const many = Array.from({ length: 60 }, (_, n) => prefixOf(1, n + 1, 'a'));
      await write(key, ...many.map((prefix, n) => writeOf(prefix, many[n - 1], userMessage('x'))));
      await write(other, writeOf(prefixOf(1, 1, 'a'), undefined, userMessage('stays')));
      await runs().swapSession({ v: 1, ...key, createdAt: 1, runSeq: 1, state: {}, activeRun: newRunId() }, undefined);
      await runs().eraseSession(key);
      await runs().eraseSession(key);
      expect(await runs().getSession(key)).toBeUndefined();
      expect(await runs().listCommits(key, 1)).toEqual([]);
      expect(texts(await runs().readTranscript(other, prefixOf(1, 1, 'a'), 10))).toEqual(['stays']);
    });

    it('leave out the messages of commits that lost, whichever way their attempt sorts', async () => {
      const key = newKey();
      const [a, lostLow, b, lostHigh] = [prefixOf(1, 1, 'm'), prefixOf(1, 2, 'a'), prefixOf(1, 2, 'm'), prefixOf(1, 2, 'z')];
      await write(key, writeOf(prefixOf(1, 1, 'a'), undefined, userMessage('lost')), writeOf(a, undefined, userMessage('one')));
      await write(
        key,
        writeOf(lostLow, a, assistantMessage('lost')),
        writeOf(b, a, assistantMessage('two')),
        writeOf(lostHigh, a, assistantMessage('lost')),
      );
      expect(texts(await runs().readTranscript(key, b, 100))).toEqual(['one', 'two']);
    });

    it('keep frames apart, one whose name begins like another too', async () => {
      const key = newKey();
      const [main, child] = [prefixOf(1, 1, 'a'), prefixOf(1, 1, 'a', 'main#2')];
      await write(key, writeOf(main, undefined, userMessage('main')), writeOf(child, undefined, userMessage('child')));
      await write({ ...key, sessionId: 's-2' }, writeOf(main, undefined, userMessage('other session')));
      expect(texts(await runs().readTranscript(key, main, 100))).toEqual(['main']);
      expect(texts(await runs().readTranscript(key, child, 100))).toEqual(['child']);
    });

    it('hold a commit of 60 calls and their observations', async () => {
      const key = newKey();
      const callIds = Array.from({ length: 60 }, (_, n) => `c1-${n}`);
      const [a, b] = [prefixOf(1, 1, 'a'), prefixOf(1, 2, 'b')];
      await write(key, writeOf(a, undefined, userMessage('go'), assistantMessage('many', callIds)));
      await write(key, writeOf(b, a, ...callIds.map((callId) => observation(callId, callId))));
      const all = await runs().readTranscript(key, b, 1_000);
      expect(all).toHaveLength(62);
      expect(all.slice(2).map(({ message }) => (message.role === 'observation' ? message.callId : ''))).toEqual(callIds);
    });

    it('hold messages larger than an item, whatever characters they are of', async () => {
      const key = newKey();
      const large = ['x'.repeat(400_000), '🎈é"\\\n'.repeat(90_000), '日'.repeat(250_000)];
      const prefix = prefixOf(1, 1, 'a');
      await write(key, writeOf(prefix, undefined, userMessage('small'), ...large.map(userMessage), userMessage('end')));
      expect(texts(await runs().readTranscript(key, prefix, 100))).toEqual(['small', ...large, 'end']);
    });

    it('may be written again after a crash', async () => {
      const key = newKey();
      const run = { tenant: key.tenant, runId: newRunId() };
      const prefix = prefixOf(1, 1, 'a');
      const messages = [writeOf(prefix, undefined, userMessage('one'), userMessage('x'.repeat(400_000)))];
      const events = [{ key: 'EVT#000001#1#0000', step: 1, type: 'approval.requested' as const, at: 1, data: {} }];
      for (let time = 0; time < 2; time++) await runs().write(run, key.sessionId, messages, events);
      expect(await runs().readTranscript(key, prefix, 100)).toHaveLength(2);
      expect(await runs().readEvents(run, 0)).toEqual(events);
    });

    it('reach back to the assistant message that opened the batch, beyond the window', async () => {
      const key = newKey();
      const callIds = Array.from({ length: 40 }, (_, n) => `c1-${n}`);
      const prefixes = Array.from({ length: 42 }, (_, n) => prefixOf(1, n + 1, 'a'));
      await write(
        key,
        writeOf(prefixes[0] ?? '', undefined, userMessage('go')),
        writeOf(prefixes[1] ?? '', prefixes[0], userMessage('first'), assistantMessage('many', callIds)),
      );
      for (const [n, callId] of callIds.entries())
        await write(key, writeOf(prefixes[n + 2] ?? '', prefixes[n + 1], observation(callId, 'data')));
      const back = await runs().readTranscript(key, prefixes[41], 3, { runSeq: 1, step: 2 });
      const opener = back.findIndex(({ message }) => message.role === 'assistant');
      expect(back.slice(opener)).toHaveLength(41);
      expect((await runs().readTranscript(key, prefixes[41], 3)).length).toBeGreaterThanOrEqual(3);
    });

    it('are the committed messages for any history of won and lost commits', async () => {
      await fc.assert(
        fc.asyncProperty(historyArbitrary, fc.integer({ min: 1, max: 40 }), async (history, atLeast) => {
          const key = newKey();
          const { writes, committed, head } = play(history);
          await write(key, ...writes);
          const read = await runs().readTranscript(key, head, atLeast);
          expect(read.length).toBeGreaterThanOrEqual(Math.min(atLeast, committed.length));
          expect(read.map(({ message }) => message)).toEqual(committed.slice(committed.length - read.length));
        }),
        { numRuns: 30 },
      );
    });
  });
}

/** Per step: how many messages each attempt wrote, which attempt won (if any), and whether a new run begins here. */
const historyArbitrary = fc.array(
  fc.record({
    attempts: fc.uniqueArray(fc.string({ unit: fc.constantFrom('a', 'k', 'z', '0'), minLength: 1, maxLength: 4 }), {
      minLength: 1,
      maxLength: 3,
    }),
    count: fc.integer({ min: 1, max: 9 }),
    newRun: fc.boolean(),
  }),
  { minLength: 1, maxLength: 25 },
);

type History = typeof historyArbitrary extends fc.Arbitrary<infer T> ? T : never;

/** The first attempt of each step wins; the others wrote the same number of messages for nothing. */
function play(history: History): { writes: MessageWrite[]; committed: Message[]; head: string | undefined } {
  const writes: MessageWrite[] = [];
  const committed: Message[] = [];
  let head: string | undefined;
  let [runSeq, step] = [1, 0];
  for (const { attempts, count, newRun } of history) {
    [runSeq, step] = newRun ? [runSeq + 1, 1] : [runSeq, step + 1];
    const prev = head;
    for (const [n, attempt] of attempts.entries()) {
      const messages = Array.from({ length: count }, (_, index) => userMessage(`${runSeq}/${step}/${attempt}/${index}`));
      writes.push({ prefix: prefixOf(runSeq, step, attempt), prev, messages });
      if (n === 0) {
        committed.push(...messages);
        head = prefixOf(runSeq, step, attempt);
      }
    }
  }
  return { writes, committed, head };
}
