import { describe, expect, it } from 'vitest';
import type { Model, ModelReply } from '../../../../lib/core/ports/model.ts';
import { LoopRig, type RigOptions } from '../../../support/loop-rig.ts';

const looks = (count: number) => ({ calls: Array.from({ length: count }, (_, at) => ['look', { at }] as const) });
const parallel = [{ definition: { name: 'look', parallelSafe: true, idempotent: true } }];
const guard = (own: object): Pick<RigOptions, 'config'> => ({ config: { constraints: { guard: own } } });

/** A rig whose model reports `usage` of every call. */
function rigReporting(usage: ModelReply['usage'], options: RigOptions): LoopRig {
  const rig = new LoopRig(options);
  const { model } = rig.deps;
  const wrapped: typeof model = async (agent) => {
    const own = await model(agent);
    return { ...own, generate: async (request) => ({ ...(await own.generate(request)), usage }) } satisfies Model;
  };
  Object.assign(rig.deps, { model: wrapped });
  return rig;
}

describe('the number of tool calls', () => {
  it('R61: with one left, of three parallel calls exactly one is dispatched', async () => {
    const rig = new LoopRig({ ...guard({ max_tool_calls: 1 }), tools: parallel, turns: [looks(3), 'ok'] });
    expect(await rig.run()).toMatchObject({ status: 'succeeded' });
    expect([...rig.handled]).toEqual([['c1-0', 1]]);
    const told = rig.prompts[1]?.messages.flatMap((message) => (message.role === 'tool' ? message.results.map(({ text }) => text) : []));
    expect(told?.map((text) => text.includes('GUARD_DENIED: rate limit: at most 1 tool calls in this run'))).toEqual([false, true, true]);
  });

  it('is reserved before anything runs: calls that a person still decides on have taken their place', async () => {
    const rig = new LoopRig({
      ...guard({ max_tool_calls: 2, tool_policy: { write: 'confirm' } }),
      tools: [...parallel, { definition: { name: 'write' } }],
      turns: [
        {
          calls: [
            ['write', {}],
            ['look', {}],
            ['look', { at: 9 }],
          ],
        },
        looks(1),
        'ok',
      ],
    });
    const { runId } = await rig.run();
    const [approvalId = ''] = await rig.pending(runId);
    await rig.decide([{ approvalId, decision: 'reject' }]);
    await rig.settle(runId);
    expect([...rig.handled.keys()]).toEqual(['c1-1']);
  });
});

describe('a budget', () => {
  const usage = { promptTokens: 100, completionTokens: 40, totalTokens: 140 };

  it.each([
    ['total_tokens', 139],
    ['prompt_tokens', 99],
    ['completion_tokens', 39],
    ['cost_usd', 0.0001],
  ])('of %s stops the calls of the reply that went over it, and the run', async (dimension, limit) => {
    const rig = rigReporting(usage, {
      config: { constraints: { guard: { budget: { [dimension]: limit } } }, prices: { 'rig/model': { input: 1, output: 5 } } },
      tools: parallel,
      turns: [{ text: 'I will look.', ...looks(3) }, 'never'],
    });
    const run = await rig.run();
    expect(run).toMatchObject({ status: 'limited', outcome: 'budget_exceeded', answer: 'I will look.' });
    expect(rig.handled.size).toBe(0);
    expect(rig.prompts).toHaveLength(1);
  });

  it('that is reached and not exceeded allows one call more', async () => {
    const rig = rigReporting(usage, { ...guard({ budget: { total_tokens: 140 } }), turns: [looks(1), looks(1), 'never'] });
    expect(await rig.run()).toMatchObject({ outcome: 'budget_exceeded', usage: { totalTokens: 280 } });
    expect([...rig.handled.keys()]).toEqual(['c1-0']);
  });

  it('counts cost by the price of the model, in USD per million tokens', async () => {
    const rig = rigReporting(
      { promptTokens: 1_000_000, completionTokens: 200_000, totalTokens: undefined },
      {
        config: { prices: { 'rig/model': { input: 3, output: 15 } } },
        turns: ['ok'],
      },
    );
    expect((await rig.run()).usage).toMatchObject({ costUsd: 6, totalTokens: 1_200_000, estimated: false });
  });

  it.each<[string, ModelReply['usage']]>([
    ['nothing', { promptTokens: undefined, completionTokens: undefined, totalTokens: undefined }],
    ['what is not a number', { promptTokens: Number.NaN, completionTokens: Number.NaN, totalTokens: Number.NaN }],
    ['less than nothing', { promptTokens: -5, completionTokens: -1, totalTokens: -6 }],
    ['without end', { promptTokens: Number.POSITIVE_INFINITY, completionTokens: 1, totalTokens: undefined }],
  ])('holds where a provider reports %s: what is missing is estimated and marked', async (_what, reported) => {
    const rig = rigReporting(reported, { ...guard({ budget: { total_tokens: 20 } }), turns: [looks(1), 'never'] });
    const run = await rig.run();
    expect(run).toMatchObject({ outcome: 'budget_exceeded', usage: { estimated: true } });
    expect(run.usage.totalTokens).toBeGreaterThan(20);
    expect(Number.isFinite(run.usage.totalTokens)).toBe(true);
  });

  it('believes the larger of the total and its parts', async () => {
    const rig = rigReporting({ promptTokens: 1, completionTokens: 1, totalTokens: 500 }, { turns: ['ok'] });
    expect((await rig.run()).usage).toMatchObject({ totalTokens: 500, promptTokens: 1, estimated: false });
  });

  it("of a run request tightens the deployment's and never lifts it", async () => {
    const options: RigOptions = { ...guard({ budget: { total_tokens: 200 }, max_tool_calls: 5 }), turns: [looks(1), looks(1), 'never'] };
    const tighter = await rigReporting(usage, options).run('go', {
      constraints: { guard: { budget: { total_tokens: 100 }, max_tool_calls: 50 } },
    });
    expect(tighter).toMatchObject({ outcome: 'budget_exceeded', step: 2 });
    expect(tighter.constraints).toMatchObject({
      guard: { budget: { total_tokens: 100 }, max_tool_calls: 5 },
      origins: { 'guard.budget.total_tokens': 'run', 'guard.max_tool_calls': 'app' },
    });
    const wider = await rigReporting(usage, options).run('go', { constraints: { guard: { budget: { total_tokens: null } } } });
    expect(wider).toMatchObject({ outcome: 'budget_exceeded' });
    expect(wider.constraints.guard.budget.total_tokens).toBe(200);
  });
});
