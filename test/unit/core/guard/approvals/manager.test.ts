import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { nodeTerminal } from '../../../../../lib/adapters/terminal.ts';
import { inMemoryApprovalStore } from '../../../../../lib/core/guard/approvals/approval-store.ts';
import { defaultConfirm, type Terminal } from '../../../../../lib/core/guard/approvals/default-confirm.ts';
import {
  type ApprovalEvent,
  type ApprovalManagerOptions,
  type ApprovalRequest,
  createApprovalManager,
  normalized,
} from '../../../../../lib/core/guard/approvals/manager.ts';
import { checkersInOrder } from '../../../../../lib/core/guard/checkers/index.ts';
import { createEnforcer } from '../../../../../lib/core/guard/enforcer.ts';
import { appConstraints, toolContext } from '../../../../support/guard.ts';
import { TestClock } from '../../../../support/time.ts';

const request = (rest: Partial<ApprovalRequest> = {}): Omit<ApprovalRequest, 'kind'> => ({
  requestId: 'r1',
  name: 'write_file',
  arguments: { path: 'a.md' },
  sessionId: 's',
  nodePath: 'main/c1-0',
  reason: 'tool policy',
  ...rest,
});

function desk(options: Partial<ApprovalManagerOptions> = {}) {
  const events: ApprovalEvent[] = [];
  const audited: unknown[] = [];
  const store = inMemoryApprovalStore();
  const manager = createApprovalManager({
    defaultCallback: () => false,
    clock: new TestClock(1_000),
    store,
    onEvent: (event) => events.push(event),
    audit: (asked, result) => void audited.push([asked.requestId, result.outcome]),
    ...options,
  });
  return { manager, store, events, audited };
}

describe('who is asked', () => {
  const who = (name: string, asked: string[]) => (): boolean => {
    asked.push(name);
    return true;
  };

  it('is the explicit callback, then that of the kind, then the default', async () => {
    for (const [options, tool, node] of [
      [['callback', 'toolCallback', 'nodeCallback', 'defaultCallback'], 'callback', 'callback'],
      [['toolCallback', 'nodeCallback', 'defaultCallback'], 'toolCallback', 'nodeCallback'],
      [['toolCallback', 'defaultCallback'], 'toolCallback', 'defaultCallback'],
      [['nodeCallback', 'defaultCallback'], 'defaultCallback', 'nodeCallback'],
      [['defaultCallback'], 'defaultCallback', 'defaultCallback'],
    ] as const) {
      const asked: string[] = [];
      const { manager } = desk(Object.fromEntries(options.map((name) => [name, who(name, asked)])));
      await manager.confirmTool(request());
      await manager.approveNode(request({ requestId: 'r2' }));
      expect(asked).toEqual([tool, node]);
    }
  });
});

describe('what a callback answers', () => {
  it.each([
    [true, 'approved'],
    [false, 'rejected'],
    ['approved', 'approved'],
    [' Yes ', 'approved'],
    ['allow', 'approved'],
    ['rejected', 'rejected'],
    ['deny', 'rejected'],
    ['pending', 'pending'],
    [{ outcome: 'approved', by: 'ann' }, 'approved'],
    [{ outcome: 'pending' }, 'pending'],
    ['maybe', 'rejected'],
    ['', 'rejected'],
    ['approved!', 'rejected'],
    [undefined, 'rejected'],
    [null, 'rejected'],
    [0, 'rejected'],
    [1, 'rejected'],
    [{}, 'rejected'],
    [{ outcome: true }, 'rejected'],
    [['approved'], 'rejected'],
    [() => true, 'rejected'],
  ])('%j is %s', (answer, outcome) => {
    expect(normalized(answer).outcome).toBe(outcome);
  });

  it('may come later, and a callback that throws has rejected', async () => {
    expect((await desk({ callback: async () => 'yes' }).manager.confirmTool(request())).outcome).toBe('approved');
    const failing = desk({
      callback: () => {
        throw new Error('no network');
      },
    });
    expect(await failing.manager.confirmTool(request())).toMatchObject({
      outcome: 'rejected',
      reason: 'the approval callback failed: no network',
    });
  });
});

describe('events and audit', () => {
  it('tell of each request and each final decision once', async () => {
    const { manager, events, audited } = desk({ callback: () => ({ outcome: 'approved', by: 'ann' }) });
    await manager.confirmTool(request());
    expect(events.map(({ type, result }) => [type, result?.outcome])).toEqual([
      ['approval.requested', undefined],
      ['approval.resolved', 'approved'],
    ]);
    expect(audited).toEqual([['r1', 'approved']]);
  });

  it('what cannot be recorded is not approved', async () => {
    const audit = () => Promise.reject(new Error('disk full'));
    const { manager, events } = desk({ callback: () => true, audit });
    expect(await manager.confirmTool(request())).toMatchObject({ outcome: 'rejected', reason: 'it could not be recorded: disk full' });
    expect(events.at(-1)?.result?.outcome).toBe('rejected');
  });
});

describe('a request that waits', () => {
  it('is asked once, decided from outside, and its result taken once', async () => {
    let asked = 0;
    const callback = () => {
      asked += 1;
      return 'pending';
    };
    const { manager, store, events, audited } = desk({ callback });
    const told: string[] = [];
    store.subscribe(({ requestId }, { outcome }) => told.push(`${requestId} ${outcome}`));
    expect((await manager.confirmTool(request())).outcome).toBe('pending');
    expect((await manager.confirmTool(request())).outcome).toBe('pending');
    expect(asked).toBe(1);
    expect(await manager.popResolved('r1')).toBeUndefined();

    await manager.resolveRequest('r1', { outcome: 'approved', by: 'ann' });
    expect(told).toEqual(['r1 approved']);
    expect(events.map(({ type }) => type)).toEqual(['approval.requested', 'approval.resolved']);
    expect(audited).toEqual([
      ['r1', 'pending'],
      ['r1', 'approved'],
    ]);
    expect(await manager.popResolved('r1')).toMatchObject({ outcome: 'approved', by: 'ann' });
    expect(await manager.popResolved('r1')).toBeUndefined();
  });

  it('is decided once: the same again is no error, another is, and nothing else can be decided', async () => {
    const { manager } = desk({ callback: () => 'pending' });
    await manager.confirmTool(request());
    await expect(manager.resolveRequest('r1', 'pending')).rejects.toMatchObject({ code: 'BAD_REQUEST' });
    await manager.resolveRequest('r1', true);
    await manager.resolveRequest('r1', 'approved');
    await expect(manager.resolveRequest('r1', false)).rejects.toMatchObject({ code: 'ALREADY_DECIDED', extra: { status: 'approved' } });
    await expect(manager.resolveRequest('r2', true)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('is forgotten once its result was acked and pruned, not before', async () => {
    const { manager, store } = desk({ callback: () => 'pending' });
    await manager.confirmTool(request());
    await store.pruneResult('r1');
    await store.ackResult('r1');
    expect(await store.getRequest('r1')).toMatchObject({ requestId: 'r1' });
    await manager.resolveRequest('r1', true);
    await store.pruneResult('r1');
    expect(await store.getResult('r1')).toMatchObject({ outcome: 'approved' });
    await store.ackResult('r1');
    expect(await store.getResult('r1')).toBeUndefined();
    await store.pruneResult('r1');
    expect(await store.resolveRequest('r1', { outcome: 'rejected' })).toBe(false);
  });
});

describe('the default', () => {
  const terminal = (typed: string, interactive = true): Terminal & { asked: string[] } => {
    const asked: string[] = [];
    return {
      interactive,
      asked,
      ask: async (question) => {
        asked.push(question);
        return typed;
      },
    };
  };
  const answer = async (options: Partial<Parameters<typeof defaultConfirm>[0]>) =>
    normalized(await defaultConfirm({ nonTtyPending: false, terminal: terminal('y'), ...options })({ ...request(), kind: 'tool' }));

  it('is `confirm_default`, whoever sits there', async () => {
    expect(await answer({ confirmDefault: 'allow', terminal: terminal('n') })).toMatchObject({ outcome: 'approved' });
    expect(await answer({ confirmDefault: 'deny' })).toMatchObject({ outcome: 'rejected' });
  });

  it('without a terminal is to reject, or to leave pending', async () => {
    const nobody = terminal('y', false);
    expect(await answer({ terminal: nobody })).toMatchObject({ outcome: 'rejected', reason: 'there is no terminal to ask on' });
    expect(await answer({ terminal: nobody, nonTtyPending: true })).toMatchObject({ outcome: 'pending' });
    expect(nobody.asked).toEqual([]);
  });

  it.each([
    ['y', 'approved'],
    [' YES ', 'approved'],
    ['', 'rejected'],
    ['n', 'rejected'],
    ['yes please', 'rejected'],
    ['j', 'rejected'],
  ])('asks at the terminal, where %j means %s', async (typed, outcome) => {
    const screen = terminal(typed);
    expect((await answer({ terminal: screen })).outcome).toBe(outcome);
    expect(screen.asked[0]).toMatch(/^write_file needs approval \(tool policy\):[\s\S]*"path": "a.md"[\s\S]*\[y\/N\] $/);
  });

  it('shows nothing that a terminal would obey', async () => {
    const screen = terminal('n');
    await defaultConfirm({ nonTtyPending: false, terminal: screen })({
      ...request({ arguments: { path: 'a\u202Etxt' }, reason: '\u001b[2J' }),
      kind: 'tool',
    });
    expect(screen.asked[0]).toContain('a\\u{202e}txt');
    expect(screen.asked[0]).toContain('\\u{1b}[2J');
  });

  it('asks on the terminal of a process; a keyboard that ends gives no answer', async () => {
    const tty = () => Object.assign(new PassThrough(), { isTTY: true });
    const [input, output] = [tty(), tty()];
    input.write('y\n');
    expect(await nodeTerminal(input, output).ask('Approve? ')).toBe('y');
    const ended = tty();
    ended.end();
    expect(await nodeTerminal(ended, output).ask('Approve? ')).toBe('');
    expect(nodeTerminal(new PassThrough(), output).interactive).toBe(false);
  });
});

describe('the guard run by a program itself', () => {
  const chain = (options: Partial<ApprovalManagerOptions>) => {
    const { manager, ...rest } = desk(options);
    const settings = { constraints: appConstraints({ tool_policy: { write_file: 'confirm', banned: 'deny' } }), confirmDefault: undefined };
    const enforcer = createEnforcer(checkersInOrder({ ...settings, approvals: manager }));
    return { check: (name: string, hash = 'h1') => enforcer.check('tool_call', toolContext({ name, hash })), manager, ...rest };
  };

  it('asks the manager in the place of answering PENDING, with the rule that asked', async () => {
    const asked: ApprovalRequest[] = [];
    const { check } = chain({
      toolCallback: (one) => {
        asked.push(one);
        return true;
      },
    });
    expect(await check('write_file')).toMatchObject({ decision: 'ALLOW', checker: 'confirm' });
    expect(asked).toMatchObject([
      { requestId: 'h1', kind: 'tool', name: 'write_file', reason: 'tool policy: "write_file" is confirm (app)' },
    ]);
    expect(await check('read_file')).toMatchObject({ decision: 'ALLOW' });
    expect(await check('banned')).toMatchObject({ decision: 'DENY', checker: 'tool_policy' });
    expect(asked).toHaveLength(1);
  });

  it('denies what was rejected, with the reason', async () => {
    const { check } = chain({ toolCallback: () => ({ outcome: 'rejected', by: 'ann', reason: 'not today' }) });
    expect(await check('write_file')).toMatchObject({ decision: 'DENY', reason: expect.stringContaining('ann rejected it: not today') });
  });

  it('waits, and takes up the decision for this very call only', async () => {
    const { check, manager } = chain({ toolCallback: () => 'pending' });
    expect(await check('write_file')).toMatchObject({ decision: 'PENDING' });
    await manager.resolveRequest('h1', { outcome: 'approved', by: 'ann' });
    expect(await check('write_file', 'h2')).toMatchObject({ decision: 'PENDING' });
    expect(await check('write_file')).toMatchObject({ decision: 'ALLOW' });
    expect(await check('write_file')).toMatchObject({ decision: 'PENDING' });
  });
});
