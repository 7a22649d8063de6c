import { describe, expect, it } from 'vitest';
import { buildSuspension, fitArguments, SUSPENSION_ITEM_BYTES } from '../../../../../lib/core/guard/approvals/open.ts';
import { suspensionSchema } from '../../../../../lib/core/guard/approvals/suspension.ts';
import { type JsonObject, jsonBytes } from '../../../../../lib/core/json.ts';
import type { RunEvent } from '../../../../../lib/core/loop/event.ts';
import type { AgentFrame, OpenCall } from '../../../../../lib/core/loop/frames.ts';
import type { PlacedMessage } from '../../../../../lib/core/loop/message.ts';
import { noUsage } from '../../../../../lib/core/loop/usage.ts';
import { RUN_ID, SUSPENSION_ID, T0, waitingRun } from '../../../../support/guard.ts';

const openCall = (index: number, state: OpenCall['state']): OpenCall => ({
  callId: `c3-${index}`,
  tool: 'write_file',
  category: 'file',
  state,
  hash: `h${index}`,
  stage: 0,
  counted: true,
});

function build(args: readonly JsonObject[], states: readonly OpenCall['state'][] = args.map(() => 'blocked'), events: RunEvent[] = []) {
  const frame: AgentFrame = {
    kind: 'agent',
    namespace: 'main',
    agent: 'default',
    iterations: 1,
    toolCalls: 0,
    usage: noUsage,
    repeats: [],
    batch: { runSeq: 1, step: 3, calls: states.map((state, index) => openCall(index, state)) },
  };
  const calls = args.map((own, index) => ({ callId: `c3-${index}`, tool: 'write_file', arguments: own }));
  const history: PlacedMessage[] = [{ runSeq: 1, step: 3, index: 0, message: { role: 'assistant', text: '', calls } }];
  return buildSuspension(waitingRun({ events, frames: [frame] }), frame, history, {
    ttlMs: 5000,
    isQuestion: (tool) => tool === 'ask_user',
  });
}

describe('opening a suspension', () => {
  it('asks for the blocked calls and no other, with what the guard said', () => {
    const events: RunEvent[] = [
      {
        type: 'guard.decision',
        at: T0,
        data: { callId: 'c3-1', decision: 'PENDING', reason: 'tool policy: "write_file" is confirm (app)' },
      },
    ];
    const suspension = build([{ path: 'a' }, { path: 'b' }, { path: 'c' }], ['ready', 'blocked', 'done'], events);
    expect(suspensionSchema.parse(suspension)).toEqual(suspension);
    expect(suspension).toMatchObject({
      suspensionId: SUSPENSION_ID,
      runId: RUN_ID,
      principal: 'alice',
      createdAt: T0,
      dueAt: T0 + 5000,
      tokens: [],
    });
    expect(suspension.approvals).toEqual({
      'c3-1': {
        callId: 'c3-1',
        kind: 'tool',
        tool: 'write_file',
        arguments: { path: 'b' },
        argumentsCut: false,
        reason: 'tool policy: "write_file" is confirm (app)',
        hash: 'h1',
        status: 'pending',
        requestedAt: T0,
        expiresAt: T0 + 5000,
      },
    });
  });

  it('is the same however often it is built', () => {
    expect(build([{ path: 'a' }])).toEqual(build([{ path: 'a' }]));
  });

  it('cuts arguments for display when they are large, and says so', () => {
    const suspension = build([{ path: 'a', content: 'x'.repeat(130_000) }, { path: 'b' }, { path: 'c', content: 'ü'.repeat(130_000) }]);
    expect(suspension.approvals['c3-0']?.argumentsCut).toBe(true);
    expect(suspension.approvals['c3-1']).toMatchObject({ argumentsCut: false, arguments: { path: 'b' } });
    expect(suspension.approvals['c3-2']).toMatchObject({
      argumentsCut: true,
      arguments: { path: 'c', content: expect.stringMatching(/more characters\]$/) },
    });
    expect(jsonBytes(suspension)).toBeLessThan(300_000);
  });

  it('fits into the item with the largest batch, decisions included', () => {
    const args = Array.from({ length: 128 }, (_, index) => ({ path: `${index}`, content: '\u0000'.repeat(20_000) }));
    const suspension = build(args);
    const reason = 'x'.repeat(2048);
    const decided = Object.values(suspension.approvals).map((approval) => ({
      ...approval,
      decision: { by: 'someone', at: T0, how: 'api', reason },
    }));
    expect(jsonBytes({ ...suspension, approvals: decided })).toBeLessThan(SUSPENSION_ITEM_BYTES);
  });

  it('refuses a run that waits for nobody', () => {
    const frame = waitingRun().frames[0] as AgentFrame;
    expect(() => buildSuspension(waitingRun({ plan: { next: 'finish' } }), frame, [], { ttlMs: 1000, isQuestion: () => false })).toThrow(
      /does not wait/,
    );
  });
});

describe('arguments as a person is shown them', () => {
  it.each<[string, JsonObject]>([
    ['a long text', { text: 'x'.repeat(5000) }],
    ['a long list', { list: Array.from({ length: 5000 }, (_, index) => index) }],
    ['many keys', Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`key${index}`, index]))],
    ['a long key', { ['k'.repeat(5000)]: 1 }],
    ['deep nesting', JSON.parse(`${'{"a":'.repeat(800)}1${'}'.repeat(800)}`)],
    ['split surrogates', { text: '😀'.repeat(3000) }],
  ])('shortens %s to the size given', (_what, args) => {
    const shown = fitArguments(args, 700);
    expect(jsonBytes(shown)).toBeLessThanOrEqual(700);
    expect(JSON.stringify(shown).isWellFormed()).toBe(true);
  });

  it('leaves what fits alone', () => {
    const args = { path: 'a' };
    expect(fitArguments(args, 700)).toBe(args);
  });
});
