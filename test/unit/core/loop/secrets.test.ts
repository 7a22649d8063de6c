import { describe, expect, it } from 'vitest';
import { HandrailError } from '../../../../lib/core/errors.ts';
import { exportRun } from '../../../../lib/core/loop/export-run.ts';
import { maskSecrets } from '../../../../lib/core/preview.ts';
import { LoopRig, type RigTool, type Turn } from '../../../support/loop-rig.ts';

const KEY = `sk-${'a1B2'.repeat(6)}`;

const throwing = (error: unknown) => () => {
  throw error;
};

describe('what looks like a secret', () => {
  it('is masked in the error of a model that failed, wherever the text is cut', async () => {
    for (const room of [0, 470, 490, 960, 985]) {
      const rig = new LoopRig({ turns: throwing(new Error(`${'x'.repeat(room)} 401: the key ${KEY} is not right`)) });
      const run = await rig.run();
      const events = await rig.stores.runs.readEvents(run, 0);
      expect(run).toMatchObject({ status: 'failed', error: { code: 'SERVICE_UNAVAILABLE' } });
      expect(JSON.stringify([run.error, run.events, events])).not.toMatch(/sk-a1B2/);
    }
  });

  it('is masked in every event and in the error of a run, whoever wrote it', async () => {
    const tools: RigTool[] = [
      { definition: { name: 'look' }, handle: () => `found ${KEY}` },
      { definition: { name: 'broken' }, handle: throwing(new HandrailError('UNHANDLED', `lost ${KEY}`)) },
      { definition: { name: 'asked' } },
    ];
    const calls = ['look', 'broken', 'nowhere', 'asked', `say_${KEY}`].map((name) => [name, { text: KEY }] as const);
    const turns = ({ messages }: { messages: readonly unknown[] }): Turn => {
      if (messages.length === 1) return { text: KEY, calls };
      throw new Error(KEY);
    };
    const config = { constraints: { guard: { tool_policy: { asked: 'confirm' as const } } } };
    const rig = new LoopRig({ tools, turns, config });
    Object.assign(rig.deps, { customCheckers: () => [{ name: 'noting', reset() {}, check: async () => ['ALLOW', `saw ${KEY}`] }] });
    const { runId } = await rig.run();
    const [approvalId = ''] = await rig.pending(runId);
    await rig.decide([{ approvalId, decision: 'reject', reason: `it holds ${KEY}` }]);
    const run = await rig.settle(runId);
    const { events } = await exportRun(rig.deps, run);
    expect(events.map(({ type }) => type)).toEqual(
      expect.arrayContaining([
        'tool.call.started',
        'tool.call.completed',
        'tool.call.failed',
        'guard.decision',
        'approval.resolved',
        'llm.call.failed',
      ]),
    );
    expect(run.status).toBe('failed');
    expect(events.filter((event) => JSON.stringify(event).includes('a1B2a1B2'))).toEqual([]);
    expect(JSON.stringify([run.error, run.events])).not.toContain('a1B2a1B2');
  });

  it.each([
    'AKIAABCDEFGHIJKLMNOP',
    `github_pat_${'a1'.repeat(15)}`,
    `glpat-${'a1'.repeat(10)}`,
    `AIza${'a1B'.repeat(12)}`,
    `sk_live_${'a1'.repeat(10)}`,
    `gsk_${'a1'.repeat(20)}`,
    `tvly-dev-${'a1'.repeat(12)}`,
    'https://hooks.slack.com/services/T000/B000/abcdef',
    'postgres://app:hunter2hunter2@db.example.com/x',
    'Authorization: Basic dXNlcjpodW50ZXIyaHVudGVyMg==',
    'aws_secret_access_key = wJalrXUtnFEMIK7MDENGbPxRfiCY',
    'https://example.com/x?api_key=abcdef0123456789abcd&y=1',
    '{"password":"hunter2"}',
  ])('is known by its shape or its name: %s', (text) => {
    const masked = maskSecrets(`before ${text} after`);
    expect(masked).toMatch(/^before .*\*\*\*.* after$/);
    for (const part of ['hunter2', 'wJalr', 'abcdef', 'a1a1a1', 'a1Ba1B', 'ABCDEF', 'dXNlcj']) expect(masked).not.toContain(part);
  });

  it.each([
    'Unexpected token: x',
    'token = next(stream)',
    'the password: it is required',
    'a https://example.com/a:b@c d',
    'npm_config_user_agent',
  ])('is not seen in %s', (text) => expect(maskSecrets(text)).toBe(text));

  it.each(['a-', 'token', '"token":"', 'https://a:', 'sk-', 'Basic ', 'a.b+'])('takes no longer for %s over and over', (part) => {
    const began = performance.now();
    maskSecrets(part.repeat(100_000));
    expect(performance.now() - began).toBeLessThan(3_000);
  });
});
