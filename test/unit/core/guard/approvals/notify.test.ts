import { beforeEach, describe, expect, it } from 'vitest';
import { checkLink } from '../../../../../lib/core/guard/approvals/link.ts';
import { NOTICE_RETRY_MS } from '../../../../../lib/core/guard/approvals/notify.ts';
import { MAX_LINKS, type Suspension } from '../../../../../lib/core/guard/approvals/suspension.ts';
import type { Logger } from '../../../../../lib/core/ports/logger.ts';
import type { Notice } from '../../../../../lib/core/ports/notices.ts';
import { LoopRig } from '../../../../support/loop-rig.ts';
import { memoryLinkStore } from '../../../../support/memory-link-store.ts';
import { seededRandom } from '../../../../support/time.ts';

const SECRET = 'sk-abcdefghijklmnop1234';
let rig: LoopRig;
let sent: Notice[];
let logged: string[];
let broken: boolean;

const logger: Logger = {
  debug() {},
  info() {},
  warn() {},
  error: (message, error, fields) => logged.push(`${message} ${String(error)} ${JSON.stringify(fields)}`),
};

beforeEach(() => {
  [sent, logged, broken] = [[], [], false];
  rig = new LoopRig({
    tools: [{ definition: { name: 'send_mail' } }],
    turns: [
      {
        calls: [
          ['send_mail', { to: 'bob', key: SECRET, text: 'x'.repeat(2_000) }],
          ['send_mail', { to: 'eve' }],
        ],
      },
      'done',
    ],
    config: { constraints: { guard: { tool_policy: { send_mail: 'confirm' } } } },
  });
  const announcer = {
    random: seededRandom(),
    baseUrl: () => 'https://decide.example',
    notices: {
      async send(notice: Notice) {
        sent.push(notice);
        if (broken) throw new Error('the channel is down');
      },
    },
  };
  Object.assign(rig.deps, { announcer, logger });
});

const suspension = (): Suspension => {
  const [found] = rig.stores.state.suspensions.values();
  if (!found) throw new Error('nothing is suspended');
  return found;
};
const tokenOf = (notice: Notice | undefined): string => new URL(notice?.link ?? '').searchParams.get('t') ?? '';

describe('when a run asks', () => {
  it('people are told once, by a link that works, of every call', async () => {
    const run = await rig.run('Write to Bob');

    expect(sent).toHaveLength(1);
    expect(sent[0]).toMatchObject({
      runId: run.runId,
      task: 'Write to Bob',
      expiresAt: suspension().approvals['c1-0']?.expiresAt,
      approvals: [
        { approvalId: `${run.runId}-1.c1-0`, kind: 'tool', tool: 'send_mail', reason: expect.stringContaining('send_mail') },
        { approvalId: `${run.runId}-1.c1-1` },
      ],
    });
    expect(sent[0]?.link).toBe(`https://decide.example/a/${run.runId}-1?t=${tokenOf(sent[0])}`);
    const deps = { links: memoryLinkStore(rig.stores.state), clock: rig.clock };
    expect(await checkLink(deps, suspension().suspensionId, tokenOf(sent[0]))).toMatchObject({ state: 'open' });
    expect(suspension()).toMatchObject({ notifiedAt: rig.clock.now(), links: [{}] });
  });

  it('what they are told is short and shows no secret', async () => {
    await rig.run();
    expect(JSON.stringify(sent)).not.toContain(SECRET);
    for (const approval of sent[0]?.approvals ?? []) expect(approval.arguments.length).toBeLessThanOrEqual(500);
  });

  it('nobody is told of what was decided before Suspend came', async () => {
    const run = await rig.start();
    await rig.advance(`${run.runId}-1`);
    const [first, second] = await rig.pending(run.runId);
    await rig.decide([first, second].map((approvalId) => ({ approvalId: approvalId ?? '', decision: 'approve' })));
    expect((await rig.settle(run.runId)).status).toBe('succeeded');
    expect(sent).toEqual([]);
  });

  it('a Suspend that is tried again after it has told them tells nobody again', async () => {
    let lost = false;
    rig.faults = {
      before() {},
      twice: () => false,
      yield: async () => undefined,
      lost(lambda) {
        if (lambda !== 'suspend' || lost) return;
        lost = true;
        throw new Error('the answer of Suspend is lost');
      },
    };
    await rig.run();
    expect([suspension().tokens.length, sent.length]).toEqual([2, 1]);
  });
});

describe('when a channel is down', () => {
  beforeEach(() => {
    broken = true;
  });

  it('the run waits all the same and goes on when it is decided', async () => {
    const run = await rig.run();
    expect(run.status).toBe('waiting');
    expect(suspension().notifiedAt).toBeUndefined();
    const ids = await rig.pending(run.runId);
    await rig.decide(ids.map((approvalId) => ({ approvalId, decision: 'approve' })));
    expect((await rig.settle(run.runId)).status).toBe('succeeded');
  });

  it('sweep tells them as soon as it is up again', async () => {
    await rig.run();
    broken = false;
    await rig.sweep();
    expect(sent).toHaveLength(1);
    rig.clock.advance(NOTICE_RETRY_MS);
    await rig.sweep();
    expect(sent).toHaveLength(2);
    expect(suspension().notifiedAt).toBe(rig.clock.now());
    rig.clock.advance(NOTICE_RETRY_MS);
    await rig.sweep();
    rig.clock.advance(NOTICE_RETRY_MS);
    await rig.sweep();
    expect(sent).toHaveLength(2);
    // Looked at next when it expires.
    expect(suspension().dueAt).toBe(suspension().approvals['c1-0']?.expiresAt);
  });

  it('it is tried five times and then left to people', async () => {
    await rig.run();
    for (let minute = 0; minute < 20; minute++) {
      rig.clock.advance(NOTICE_RETRY_MS);
      await rig.sweep();
    }
    expect(sent).toHaveLength(MAX_LINKS);
    expect(new Set(sent.map(tokenOf)).size).toBe(MAX_LINKS);
    expect(suspension().links).toHaveLength(MAX_LINKS);
    expect(suspension().dueAt).toBe(suspension().approvals['c1-0']?.expiresAt);
  });

  it('one pass of sweep waits for it once only, and does everything else first', async () => {
    await rig.run('one', { sessionId: 's-one' });
    await rig.run('two', { sessionId: 's-two' });
    await rig.run('three', { sessionId: 's-three' });
    sent.length = 0;
    rig.clock.advance(NOTICE_RETRY_MS);
    expect(await rig.sweep()).toMatchObject({ suspensions: 3, failed: 0 });
    expect(sent).toHaveLength(1);
  });

  it('the log says so, without the link', async () => {
    await rig.run();
    expect(logged.join('\n')).toContain('the channel is down');
    expect(logged.join('\n')).not.toMatch(new RegExp(`${tokenOf(sent[0])}|/a/|[?&]t=`));
  });
});

describe.each(['change:link', 'change:notified', 'change:due', 'change:token', 'getRun'])('when %s fails once', (operation) => {
  it.each([1, 2, 3])('people are told at least once, by a link that opens, and the run ends as they decide (call %i)', async (call) => {
    let seen = 0;
    rig.faults = {
      twice: () => false,
      yield: async () => undefined,
      lost() {},
      before(name) {
        if (name === operation && ++seen === call) throw new Error(`${operation} failed`);
      },
    };
    const run = await rig.start().catch(() => rig.start());
    await rig.settle(run.runId);
    for (let minute = 0; minute < 3; minute++) {
      rig.clock.advance(NOTICE_RETRY_MS);
      await rig.sweep();
    }

    expect(sent.length).toBeGreaterThanOrEqual(1);
    expect(suspension().notifiedAt).toBeDefined();
    const deps = { links: memoryLinkStore(rig.stores.state), clock: rig.clock };
    expect(await checkLink(deps, suspension().suspensionId, tokenOf(sent.at(-1)))).toMatchObject({ state: 'open' });
    const ids = await rig.pending(suspension().runId);
    await rig.decide(ids.map((approvalId) => ({ approvalId, decision: 'approve' })));
    expect((await rig.settle(suspension().runId)).status).toBe('succeeded');
  });
});
