import { describe, expect, it } from 'vitest';
import { LoopRig, NO_FAULTS } from '../../../support/loop-rig.ts';

const observations = async (rig: LoopRig, run: Awaited<ReturnType<LoopRig['run']>>) =>
  (await rig.transcript(run)).flatMap(({ message }) =>
    message.role === 'observation' ? [{ callId: message.callId, code: message.result.error?.code ?? 'ok' }] : [],
  );

describe('a run', () => {
  it('answers without tools in one step', async () => {
    const rig = new LoopRig({ turns: ['Hello.'] });
    const run = await rig.run('Hi');
    expect(run).toMatchObject({
      status: 'succeeded',
      outcome: 'completed',
      answer: 'Hello.',
      step: 1,
      usage: { promptTokens: 10, completionTokens: 5 },
    });
    expect(rig.states).toEqual(['Reason', 'Route', 'Finish']);
  });

  it('runs one call in 4 transitions from Reason to the next LLM call', async () => {
    const rig = new LoopRig({ turns: [{ calls: [['look', { at: 1 }]] }, 'Seen.'] });
    const run = await rig.run();
    expect(run).toMatchObject({ status: 'succeeded', answer: 'Seen.', step: 2 });
    expect(rig.states.slice(0, 4)).toEqual(['Reason', 'Route', 'Act', 'Invoke']);
    expect(rig.states[4]).toBe('Reason');
    expect(await observations(rig, run)).toEqual([{ callId: 'c1-0', code: 'ok' }]);
  });

  it('runs three calls that are not parallel safe one after another, in 12 transitions', async () => {
    const rig = new LoopRig({
      turns: [
        {
          calls: [
            ['look', { at: 1 }],
            ['look', { at: 2 }],
            ['look', { at: 3 }],
          ],
        },
        'Seen.',
      ],
    });
    await rig.run();
    expect(rig.prompts).toHaveLength(2);
    expect(rig.states.indexOf('Finish')).toBe(12 + 2);
  });

  it('runs three parallel calls in one stage, in 6 transitions', async () => {
    const rig = new LoopRig({
      tools: [{ definition: { name: 'look', parallelSafe: true } }],
      turns: [
        {
          calls: [
            ['look', { at: 1 }],
            ['look', { at: 2 }],
            ['look', { at: 3 }],
          ],
        },
        'Seen.',
      ],
    });
    const run = await rig.run();
    expect(rig.states.indexOf('Finish')).toBe(6 + 2);
    expect((await observations(rig, run)).map(({ callId }) => callId)).toEqual(['c1-0', 'c1-1', 'c1-2']);
  });

  it('answers unknown tools and broken arguments and runs the good call beside them (R47)', async () => {
    const rig = new LoopRig({
      turns: [
        {
          calls: [
            ['nope', {}],
            ['look', '{"at": '],
            ['look', { at: 1 }],
          ],
        },
        'Seen.',
      ],
    });
    const run = await rig.run();
    expect(await observations(rig, run)).toEqual([
      { callId: 'c1-0', code: 'TOOL_NOT_FOUND' },
      { callId: 'c1-1', code: 'INVALID_ARGUMENTS' },
      { callId: 'c1-2', code: 'ok' },
    ]);
    expect([...rig.handled]).toEqual([['c1-2', 1]]);
  });

  it('suspends for a person and runs what was approved, in 7 transitions', async () => {
    const rig = new LoopRig({
      config: { constraints: { guard: { tool_policy: { look: 'confirm' } } } },
      turns: [{ calls: [['look', { at: 1 }]] }, 'Seen.'],
    });
    const waiting = await rig.run();
    expect(waiting).toMatchObject({ status: 'waiting', plan: { next: 'suspend' } });
    const [approvalId = ''] = await rig.pending(waiting.runId);
    expect(rig.handled.size).toBe(0);
    await rig.decide([{ approvalId, decision: 'approve' }]);
    const run = await rig.settle(waiting.runId);
    expect(run).toMatchObject({ status: 'succeeded', answer: 'Seen.' });
    expect(rig.states.slice(0, 7)).toEqual(['Reason', 'Route', 'Suspend', 'Reason', 'Route', 'Act', 'Invoke']);
    expect([...rig.handled]).toEqual([['c1-0', 1]]);
  });

  it('tells the LLM of a rejection with its reason and goes on in the woken step', async () => {
    const rig = new LoopRig({
      config: { constraints: { guard: { tool_policy: { look: 'confirm' } } } },
      turns: [{ calls: [['look', { at: 1 }]] }, 'I will not.'],
    });
    const waiting = await rig.run();
    const [approvalId = ''] = await rig.pending(waiting.runId);
    await rig.decide([{ approvalId, decision: 'reject', reason: 'not on Friday' }]);
    const run = await rig.settle(waiting.runId);
    expect(run).toMatchObject({ status: 'succeeded', answer: 'I will not.' });
    expect(JSON.stringify(rig.prompts[1]?.messages)).toContain('not on Friday');
    expect(rig.handled.size).toBe(0);
  });

  it('expires by sweep when nobody decides', async () => {
    const rig = new LoopRig({
      config: { approvals: { ttl_ms: 60_000 }, constraints: { guard: { tool_policy: { look: 'confirm' } } } },
      turns: [{ calls: [['look', {}]] }, 'Nobody came.'],
    });
    const waiting = await rig.run();
    rig.clock.advance(60_001);
    await rig.sweep();
    const run = await rig.settle(waiting.runId);
    expect(run).toMatchObject({ status: 'succeeded', answer: 'Nobody came.' });
    expect(await observations(rig, run)).toEqual([{ callId: 'c1-0', code: 'APPROVAL_EXPIRED' }]);
  });

  it('ends as cancelled while it waits for a person', async () => {
    const rig = new LoopRig({
      config: { constraints: { guard: { tool_policy: { look: 'confirm' } } } },
      turns: [{ calls: [['look', {}]] }],
    });
    const waiting = await rig.run();
    await rig.cancel(waiting.runId);
    const run = await rig.settle(waiting.runId);
    expect(run).toMatchObject({ status: 'cancelled', outcome: 'cancelled' });
    expect(await observations(rig, run)).toEqual([{ callId: 'c1-0', code: 'CANCELLED' }]);
  });

  it('denies the whole batch for one denied call, or only that call', async () => {
    for (const [onDeny, expected] of [
      ['batch', ['GUARD_DENIED', 'GUARD_DENIED']],
      ['call', ['GUARD_DENIED', 'ok']],
    ] as const) {
      const rig = new LoopRig({
        tools: [{ definition: { name: 'look' } }, { definition: { name: 'drop' } }],
        config: {
          agents: { default: { on_deny: onDeny } },
          constraints: { guard: { tool_policy: { drop: { policy: 'deny', when: { type: 'object', required: ['all'] } } } } },
        },
        turns: [
          {
            calls: [
              ['drop', { all: true }],
              ['look', {}],
            ],
          },
          'ok',
        ],
      });
      const run = await rig.run();
      expect((await observations(rig, run)).map(({ code }) => code).toSorted()).toEqual([...expected].toSorted());
    }
  });

  it('ends at the iteration limit with the best answer there is', async () => {
    const rig = new LoopRig({
      config: { constraints: { max_iterations: 2 } },
      turns: (_request, turn) => ({ text: `thought ${turn + 1}`, calls: [['look', { turn }]] }),
    });
    expect(await rig.run()).toMatchObject({ status: 'limited', outcome: 'iteration_limit', answer: 'thought 2' });
  });

  it('asks for a last word without tools where the agent wants it', async () => {
    const rig = new LoopRig({
      config: { constraints: { max_iterations: 1 }, agents: { default: { on_limit: 'summarize' } } },
      turns: (request, turn) => (request.toolChoice === 'none' ? 'So far: nothing.' : { calls: [['look', { turn }]] }),
    });
    expect(await rig.run()).toMatchObject({ status: 'limited', outcome: 'iteration_limit', answer: 'So far: nothing.' });
  });

  it('ends when the budget is spent', async () => {
    const rig = new LoopRig({
      config: { constraints: { guard: { budget: { total_tokens: 40 } } } },
      turns: (_request, turn) => ({ calls: [['look', { turn }]], usage: { prompt: 20, completion: 5 } }),
    });
    expect(await rig.run()).toMatchObject({ status: 'limited', outcome: 'budget_exceeded' });
  });

  it('refuses a call that keeps giving the same result, then ends as a loop', async () => {
    const rig = new LoopRig({ turns: () => ({ calls: [['look', { at: 1 }]] }) });
    const run = await rig.run();
    expect(run).toMatchObject({ status: 'limited', outcome: 'loop' });
    expect((await observations(rig, run)).map(({ code }) => code)).toEqual(['ok', 'ok', 'ok', 'LOOP_DETECTED', 'LOOP_DETECTED']);
  });

  it('lets a poller go on whose results change', async () => {
    let n = 0;
    const rig = new LoopRig({
      tools: [{ definition: { name: 'look' }, handle: () => `${n++}` }],
      turns: (_request, turn) => (turn < 8 ? { calls: [['look', { at: 1 }]] } : 'ready'),
    });
    expect(await rig.run()).toMatchObject({ outcome: 'completed', answer: 'ready' });
  });

  it('ends as an error when the model fails for good', async () => {
    const rig = new LoopRig({
      turns: () => {
        throw new Error('no such model');
      },
    });
    expect(await rig.run()).toMatchObject({
      status: 'failed',
      outcome: 'error',
      error: { message: expect.stringContaining('no such model') },
    });
  });

  it('keeps the conversation of a session over its runs', async () => {
    const rig = new LoopRig({ turns: ['Hello.'] });
    await rig.run('first', { sessionId: 's1' });
    await rig.run('second', { sessionId: 's1' });
    expect(rig.prompts[1]?.messages.map((message) => ('text' in message ? message.text : ''))).toEqual(['first', 'Hello.', 'second']);
  });

  it('names the run that keeps a session busy', async () => {
    const rig = new LoopRig();
    const first = await rig.start('first', { sessionId: 's1' });
    await expect(rig.start('second', { sessionId: 's1' })).rejects.toMatchObject({ code: 'SESSION_BUSY', extra: { runId: first.runId } });
  });

  it('is started once for one idempotency key', async () => {
    const rig = new LoopRig();
    const first = await rig.start('go', { sessionId: 's1', idempotencyKey: 'k' });
    const again = await rig.start('go', { sessionId: 's1', idempotencyKey: 'k' });
    expect(again.runId).toBe(first.runId);
    await expect(rig.start('other', { sessionId: 's1', idempotencyKey: 'k' })).rejects.toMatchObject({ code: 'CONFLICT' });
  });
});

describe('a step', () => {
  it('is not repeated when its answer was lost', async () => {
    const rig = new LoopRig({ turns: [{ calls: [['look', {}]] }, 'Seen.'] });
    let losses = 0;
    rig.faults = {
      ...NO_FAULTS,
      lost: (lambda) => {
        if (lambda === 'reason' && losses++ % 2 === 0) throw new Error('lost');
      },
    };
    const run = await rig.run();
    expect(run).toMatchObject({ status: 'succeeded', answer: 'Seen.', frames: [{ iterations: 2 }] });
    expect(rig.prompts).toHaveLength(2);
  });

  it('does not run a tool again whose answer was lost, unless it is idempotent', async () => {
    const rig = new LoopRig({ turns: [{ calls: [['look', {}]] }, 'Seen.'] });
    let lost = 0;
    rig.faults = {
      ...NO_FAULTS,
      lost: (lambda) => {
        if (lambda === 'tool' && lost++ === 0) throw new Error('crash');
      },
    };
    const run = await rig.run();
    expect(await observations(rig, run)).toEqual([{ callId: 'c1-0', code: 'OUTCOME_UNKNOWN' }]);
    expect([...rig.handled]).toEqual([['c1-0', 1]]);
  });
});
