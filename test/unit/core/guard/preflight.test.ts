import { describe, expect, it } from 'vitest';
import { mergeConstraints } from '../../../../lib/core/guard/constraints.ts';
import type { LivePolicy } from '../../../../lib/core/guard/policy.ts';
import {
  callHash,
  checkLlmCall,
  deniedTools,
  type PreflightCall,
  type PreflightInput,
  preflight,
} from '../../../../lib/core/guard/preflight.ts';
import type { JsonObject } from '../../../../lib/core/json.ts';
import { noUsage } from '../../../../lib/core/loop/usage.ts';
import { appConstraints, preflightCall as call, fixedChecker, preflightInput as input, RUN_ID } from '../../../support/guard.ts';

const live = (guard: LivePolicy['guard']): LivePolicy => ({ v: 1, version: 1, guard, updatedAt: 0, updatedBy: 'op' });

async function verdicts(calls: PreflightCall[], rest: Partial<PreflightInput> = {}): Promise<string[]> {
  const outcome = await preflight(input(calls, rest));
  return [...outcome.verdicts.values()].map(({ verdict, checker }) => (verdict === 'allow' ? 'allow' : `${verdict} ${checker}`));
}
const counted = (state: Record<string, JsonObject>): unknown => state['rate_limit']?.['call_count'];

describe('preflight of a batch', () => {
  const denyShell = appConstraints({ tool_policy: { execute_shell: 'deny', write_file: 'confirm' }, max_tool_calls: 2 });

  it('with on_deny batch lets one DENY answer every call: nothing is counted, nobody is asked', async () => {
    const calls = [call(0, 'read_file'), call(1, 'write_file'), call(2, 'execute_shell')];
    const outcome = await preflight(input(calls, { constraints: denyShell }));
    expect([...outcome.verdicts.values()].map(({ verdict, checker }) => [verdict, checker])).toEqual([
      ['deny', 'tool_policy'],
      ['deny', 'tool_policy'],
      ['deny', 'tool_policy'],
    ]);
    expect(outcome.verdicts.get('c1-0')?.reason).toContain('execute_shell (c1-2)');
    expect([...outcome.verdicts.values()].every((verdict) => !verdict.counted)).toBe(true);
    expect(counted(outcome.state)).toBe(0);
  });

  it('with on_deny call answers only the denied ones, and counts only the others', async () => {
    const calls = [call(0, 'execute_shell'), call(1, 'read_file'), call(2, 'write_file')];
    const outcome = await preflight(input(calls, { constraints: denyShell, onDeny: 'call' }));
    expect([...outcome.verdicts.values()].map(({ verdict }) => verdict)).toEqual(['deny', 'allow', 'ask']);
    expect(counted(outcome.state)).toBe(2);
    expect(outcome.dispatch).toBe(false);
  });

  it('applies the rate limit per call in both modes: the first that fit pass', async () => {
    const constraints = appConstraints({ max_tool_calls: 2 });
    for (const onDeny of ['batch', 'call'] as const) {
      const calls = [call(0, 'a'), call(1, 'b'), call(2, 'c')];
      expect(await verdicts(calls, { constraints, onDeny })).toEqual(['allow', 'allow', 'deny rate_limit']);
    }
  });

  it('denies the whole batch even when the call that flow denies comes after the last that fits', async () => {
    const constraints = appConstraints({ max_tool_calls: 1, flow: 'deny' });
    const calls = [call(0, 'read_file', { effectTags: ['fs.read'] }), call(1, 'web_fetch', { effectTags: ['net.read'] })];
    const state = { flow: { seen: ['fs.read'], passed: {} } };
    expect(await verdicts(calls, { constraints, state })).toEqual(['deny flow', 'deny flow']);
    expect(await verdicts(calls, { constraints, state, onDeny: 'call' })).toEqual(['allow', 'deny rate_limit']);
  });

  it('a denied call leaves its place under the rate limit to the next', async () => {
    const constraints = appConstraints({ max_tool_calls: 1, tool_policy: {} });
    const customCheckers = () => [fixedChecker('no_a', ({ tool }) => (tool?.name === 'a' ? ['DENY', 'no a'] : ['ALLOW', '']))];
    expect(await verdicts([call(0, 'a'), call(1, 'b')], { constraints, customCheckers, onDeny: 'call' })).toEqual(['deny no_a', 'allow']);
    expect(await verdicts([call(0, 'a'), call(1, 'b')], { constraints, customCheckers, onDeny: 'batch' })).toEqual([
      'deny no_a',
      'deny no_a',
    ]);
  });

  it('denies the batch over budget', async () => {
    const constraints = appConstraints({ budget: { total_tokens: 10 } });
    expect(await verdicts([call(0, 'a'), call(1, 'b')], { constraints, usage: { ...noUsage, totalTokens: 11 } })).toEqual([
      'deny budget',
      'deny budget',
    ]);
  });

  it('dispatches nothing of a batch in which one call needs a person', async () => {
    const calls = [call(0, 'read_file'), call(1, 'write_file')];
    const outcome = await preflight(input(calls, { constraints: denyShell }));
    expect(outcome.dispatch).toBe(false);
    expect(outcome.verdicts.get('c1-1')).toMatchObject({ verdict: 'ask', decision: 'PENDING', checker: 'tool_policy', counted: true });
    expect(outcome.verdicts.get('c1-1')?.reason).toContain('"write_file" is confirm');
    expect(counted(outcome.state)).toBe(2);
  });

  it('counts a call once over asking, approval and later stages, and keeps what was counted when it is denied later', async () => {
    const calls = [call(0, 'read_file'), call(1, 'write_file')];
    const asked = await preflight(input(calls, { constraints: denyShell }));
    const again = calls.map((one) => ({ ...one, counted: true, approvedHash: one.tool === 'write_file' ? one.hash : undefined }));
    const woken = await preflight(input(again, { constraints: denyShell, state: asked.state }));
    expect([...woken.verdicts.values()].map(({ verdict }) => verdict)).toEqual(['allow', 'allow']);
    expect(woken.dispatch).toBe(true);
    expect(counted(woken.state)).toBe(2);
    const killed = await preflight(
      input(again.slice(1), { constraints: denyShell, state: woken.state, policies: [live({ tool_policy: { 'write_*': 'deny' } })] }),
    );
    expect(killed.verdicts.get('c1-1')).toMatchObject({ verdict: 'deny', checker: 'tool_policy', counted: true });
    expect(counted(killed.state)).toBe(2);
  });

  it('does not take an approval of other arguments', async () => {
    const one = call(0, 'write_file', { arguments: { path: 'b' } });
    const approvedHash = callHash(RUN_ID, 'c1-0', 'write_file', { path: 'a' });
    expect(await verdicts([{ ...one, counted: true, approvedHash }], { constraints: denyShell })).toEqual(['ask tool_policy']);
  });

  it('asks about what a live policy asks for since', async () => {
    const one = { ...call(0, 'read_file'), counted: true };
    expect(await verdicts([one], { policies: [live({ default_policy: 'confirm' })] })).toEqual(['ask tool_policy']);
  });

  it('lets confirm_default: deny answer only the calls that would have been asked about', async () => {
    const calls = [call(0, 'read_file'), call(1, 'write_file')];
    expect(await verdicts(calls, { constraints: denyShell, confirmDefault: 'deny' })).toEqual(['allow', 'deny confirm']);
    expect(await verdicts(calls, { constraints: denyShell, confirmDefault: 'allow' })).toEqual(['allow', 'allow']);
  });

  it('asks for a call that sends data out only once a call that reads has been dispatched', async () => {
    const read = call(0, 'read_file', { effectTags: ['fs.read'] });
    const send = call(1, 'web_fetch', { effectTags: ['net.read'] });
    const first = await preflight(input([send, read]));
    expect([...first.verdicts.values()].map(({ verdict }) => verdict)).toEqual(['allow', 'allow']);
    // Neither has been dispatched: the state says so, whatever passed.
    const second = await preflight(input([send, read], { state: first.state }));
    expect(second.verdicts.get('c1-1')?.verdict).toBe('allow');
    // The reading call is gone from the open ones: it was dispatched.
    const third = await preflight(input([send], { state: second.state }));
    expect(third.verdicts.get('c1-1')).toMatchObject({ verdict: 'ask', checker: 'flow' });
    const later = await preflight(input([call(5, 'web_search', { effectTags: ['net.read'] })], { state: third.state }));
    expect(later.verdicts.get('c1-5')?.verdict).toBe('ask');
  });

  it('counts effects that the run knows of for flow', async () => {
    expect(await verdicts([call(0, 'web_fetch', { effectTags: ['net.read'] })], { effects: { 'memory.read': 1 } })).toEqual(['ask flow']);
  });

  it('keeps custom checkers from changing what runs, and fails closed when they fail', async () => {
    const one = call(0, 'a', { arguments: { path: 'a' } });
    const meddler = fixedChecker('meddler', ({ tool }) => {
      if (tool) tool.args['path'] = 'b';
      return ['ALLOW', ''];
    });
    expect(await verdicts([one], { customCheckers: () => [meddler] })).toEqual(['allow']);
    expect(one.arguments).toEqual({ path: 'a' });
    const broken = fixedChecker('broken', () => {
      throw new Error('no');
    });
    expect(await verdicts([one, call(1, 'b')], { customCheckers: () => [broken] })).toEqual(['deny broken', 'deny broken']);
  });

  it('describes each decision for the event log: who, why, and what it looked at', async () => {
    const outcome = await preflight(input([call(0, 'a')], { constraints: appConstraints({ max_tool_calls: 0 }) }));
    expect(outcome.verdicts.get('c1-0')?.event).toEqual({
      callId: 'c1-0',
      tool: 'a',
      decision: 'DENY',
      checker: 'rate_limit',
      reason: 'rate limit: at most 0 tool calls in this run',
      answers: [
        { checker: 'tool_policy', decision: 'ALLOW', reason: 'no rule' },
        { checker: 'rate_limit', decision: 'DENY', reason: 'rate limit: at most 0 tool calls in this run' },
      ],
      looked_at: expect.objectContaining({ call_count: 1, max_tool_calls: 0 }),
    });
  });

  it('answers an empty batch', async () => {
    expect(await preflight(input([]))).toMatchObject({ dispatch: true, verdicts: new Map() });
  });
});

describe('around it', () => {
  it('denies an LLM call over budget, and does not count it as a tool call', async () => {
    const common = {
      constraints: appConstraints({ budget: { total_tokens: 10 }, max_tool_calls: 0, default_policy: 'deny' }),
      policies: [],
      state: {},
    };
    expect(await checkLlmCall({ ...common, usage: noUsage })).toMatchObject({ decision: 'ALLOW' });
    expect(await checkLlmCall({ ...common, usage: { ...noUsage, totalTokens: 11 } })).toMatchObject({
      decision: 'DENY',
      checker: 'budget',
    });
  });

  it('denies an LLM call that a custom checker would have confirmed', async () => {
    const customCheckers = () => [fixedChecker('ask', () => ['CONFIRM', 'really?'])];
    const common = { constraints: appConstraints({}), policies: [], state: {}, usage: noUsage };
    expect(await checkLlmCall({ ...common, customCheckers })).toMatchObject({
      decision: 'DENY',
      reason: expect.stringContaining('really?'),
    });
  });

  it('hides tools that policy denies whatever their arguments', () => {
    const tools = [
      { name: 'read_file', aliases: ['cat'], effectTags: ['fs.read'] },
      { name: 'write_file', aliases: [], effectTags: ['fs.write'] },
      { name: 'execute_shell', aliases: [], effectTags: ['code.exec'] },
      { name: 'web_fetch', aliases: [], effectTags: ['net.read'] },
    ];
    const constraints = appConstraints({ tool_policy: { cat: 'deny', write_file: { policy: 'deny', when: {} } } });
    expect(deniedTools(tools, constraints, [])).toEqual(new Set(['read_file']));
    expect(deniedTools(tools, constraints, [live({ tool_policy: { 'execute_*': 'deny' } })])).toEqual(
      new Set(['read_file', 'execute_shell']),
    );
    const offline = mergeConstraints([{ layer: 'app', constraints: { execution: { network: 'none' } } }]);
    expect(deniedTools(tools, offline, [live({ default_policy: 'allow' })])).toEqual(new Set(['web_fetch']));
  });

  it('binds an approval to run, call, tool and arguments, whatever the order of their keys', () => {
    const hash = callHash(RUN_ID, 'c1-0', 'a', { x: 1, y: { b: 2, a: 1 } });
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    expect(callHash(RUN_ID, 'c1-0', 'a', { y: { a: 1, b: 2 }, x: 1 })).toBe(hash);
    const others = [
      callHash('r-1', 'c1-0', 'a', { x: 1 }),
      callHash(RUN_ID, 'c1-1', 'a', { x: 1 }),
      callHash(RUN_ID, 'c1-0', 'b', { x: 1 }),
      callHash(RUN_ID, 'c1-0', 'a', { x: 2 }),
    ];
    expect(new Set([...others, callHash(RUN_ID, 'c1-0', 'a', { x: 1 })]).size).toBe(5);
  });
});
