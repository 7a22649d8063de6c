import { beforeEach, describe, expect, it } from 'vitest';
import { checkLink, LINK_SPAN_MS, LINK_TRIES, newLink } from '../../../../../lib/core/guard/approvals/link.ts';
import { suspensionIdOf } from '../../../../../lib/core/ids.ts';
import { openSuspension, RUN_ID, SUSPENSION_ID, T0, TTL_MS } from '../../../../support/guard.ts';
import { memoryLinkStore } from '../../../../support/memory-link-store.ts';
import { type MemoryStores, memoryStores } from '../../../../support/memory-stores.ts';
import { seededRandom, TestClock } from '../../../../support/time.ts';

const NOBODYS = suspensionIdOf(RUN_ID, 9);
let stores: MemoryStores;
let clock: TestClock;
let check: (token: string, id?: string) => ReturnType<typeof checkLink>;
let token: string;

beforeEach(async () => {
  stores = memoryStores();
  clock = new TestClock(T0);
  const deps = { links: memoryLinkStore(stores.state), clock };
  check = (given, id = SUSPENSION_ID) => checkLink(deps, id, given);
  await stores.guard.openSuspension(openSuspension());
  const made = newLink(seededRandom(), SUSPENSION_ID, T0 + TTL_MS);
  token = made.token;
  await stores.guard.changeSuspension(SUSPENSION_ID, { kind: 'link', link: made.link });
});

describe('a link', () => {
  it('has 256 bits, of which the suspension keeps only a digest', () => {
    expect(token).toMatch(/^[0-9a-f]{64}$/);
    expect(JSON.stringify(stores.state.suspensions.get(SUSPENSION_ID))).not.toContain(token);
  });

  it('opens its suspension again and again, and says which link it was', async () => {
    const first = await check(token);
    expect(first).toEqual({ state: 'open', by: expect.stringMatching(/^link:[0-9a-f]{8}$/) });
    expect(await check(token)).toEqual(first);
  });

  it('opens no other suspension', async () => {
    await stores.guard.openSuspension({
      ...openSuspension(),
      suspensionId: NOBODYS,
      links: stores.state.suspensions.get(SUSPENSION_ID)?.links,
    });
    expect(await check(token, NOBODYS)).toEqual({ state: 'wrong' });
  });

  it.each([
    ['empty', () => ''],
    ['cut', () => token.slice(0, 63)],
    ['with a letter more', () => `${token}0`],
    ['in capitals', () => token.toUpperCase()],
    ['its digest', () => stores.state.suspensions.get(SUSPENSION_ID)?.links?.[0]?.hash ?? ''],
    ['the mark of an empty place', () => '-'.repeat(64)],
    ['very long', () => 'a'.repeat(100_000)],
  ])('does not open when the token is %s', async (_what, given) => {
    expect(await check(given())).toEqual({ state: 'wrong' });
  });

  it('still shows what became of it for a week after the time to decide, and then no more', async () => {
    clock.advance(TTL_MS + 7 * 24 * 3_600_000 - 1);
    expect(await check(token)).toMatchObject({ state: 'open' });
    clock.advance(1);
    expect(await check(token)).toEqual({ state: 'wrong' });
  });
});

describe('wrong tokens', () => {
  const tryWrong = async (times: number, id?: string) => {
    const states: string[] = [];
    for (let n = 0; n < times; n++) states.push((await check(`wrong-${n}`, id)).state);
    return states;
  };

  it('are answered twenty times, then nothing is for a while, and afterwards the link works again', async () => {
    expect(await tryWrong(LINK_TRIES)).toEqual(Array(LINK_TRIES).fill('wrong'));
    const locked = await check('wrong');
    expect(locked).toEqual({ state: 'locked', retryAfterMs: LINK_SPAN_MS - (T0 % LINK_SPAN_MS) });
    expect(await check(token)).toMatchObject({ state: 'locked' });
    clock.advance(LINK_SPAN_MS);
    expect(await check(token)).toMatchObject({ state: 'open' });
  });

  it('are answered the same for an id that nobody has, the lock included', async () => {
    const [known, unknown] = [await tryWrong(LINK_TRIES + 2), await tryWrong(LINK_TRIES + 2, NOBODYS)];
    expect(unknown).toEqual(known);
  });

  it('are never answered more often, even all at once', async () => {
    const answers = await Promise.all(Array.from({ length: 60 }, (_, n) => check(`wrong-${n}`)));
    expect(answers.filter(({ state }) => state === 'wrong')).toHaveLength(LINK_TRIES);
  });

  it('of one suspension lock no other', async () => {
    await tryWrong(LINK_TRIES + 1, NOBODYS);
    expect(await check(token)).toMatchObject({ state: 'open' });
  });

  it('cost nothing for what cannot be an id', async () => {
    for (let n = 0; n < LINK_TRIES + 2; n++) expect(await check(token, 'nonsense')).toEqual({ state: 'wrong' });
  });
});
