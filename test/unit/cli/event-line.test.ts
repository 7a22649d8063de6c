import { expect, test } from 'vitest';
import type { ShownEvent } from '../../../lib/cli/client.ts';
import { eventLine, isRoutine } from '../../../lib/cli/event-line.ts';
import { createScreen } from '../../../lib/cli/screen.ts';
import { EVENT_TYPES } from '../../../lib/core/loop/event.ts';
import { fakeContext } from './fake-context.ts';

const { style } = createScreen(fakeContext().stderr, {});
const event = (type: string, data: ShownEvent['data'] = {}): ShownEvent => ({ type, data, at: 1, step: 1, key: 'EVT#000001#0#0000' });
const line = (type: string, data: ShownEvent['data'] = {}): string => eventLine(event(type, data), style);

test('each kind of event is one line', () => {
  expect(line('run.started', { agent: 'default', sessionId: 's-1', by: 'me' })).toBe('started: agent default, session s-1');
  expect(line('llm.call.completed', { model: 'p/m', duration: 1200, calls: 2, totalTokens: 345 })).toBe(
    'p/m asked for 2 tool calls (1.2 s, 345 tokens)',
  );
  expect(line('tool.call.started', { tool: 'read_file', args_preview: '{"path":"a"}' })).toBe('→ read_file {"path":"a"}');
  expect(line('tool.call.progress', { tool: 'execute_python', elapsedMs: 5000 })).toBe('… execute_python is at work, 5.0 s');
  expect(line('tool.call.completed', { tool: 'read_file', duration: 12, result_preview: 'x\ny' })).toBe('✓ read_file 12 ms x ⏎ y');
  expect(line('tool.call.failed', { tool: 'read_file', duration: 3, error: { code: 'FILE_NOT_FOUND', message: 'no a' } })).toBe(
    '✗ read_file 3 ms FILE_NOT_FOUND no a',
  );
  expect(line('guard.decision', { tool: 'write_file', decision: 'DENY', checker: 'flow', reason: 'no' })).toBe(
    'guard denies write_file (flow: no)',
  );
  expect(line('approval.resolved', { tool: 'write_file', status: 'rejected', by: 'local:owner', reason: 'not today' })).toBe(
    'write_file was rejected by local:owner: not today',
  );
  expect(line('run.finished', { status: 'failed', outcome: 'error', error: { code: 'INTERNAL', message: 'gone' } })).toBe(
    'ended: error: INTERNAL gone',
  );
});

test.each([...EVENT_TYPES, 'a.kind.of.tomorrow'])('%s shows without any of its data', (type) => {
  expect(line(type)).toMatch(/\S/);
  expect(line(type)).not.toMatch(/undefined|NaN|\n/);
});

test('a tool cannot write to the terminal through its result, its name or an unknown kind', () => {
  const hostile = '\u001b]0;owned\u0007\nrm -rf';
  for (const type of [...EVENT_TYPES, hostile]) {
    const shown = line(type, {
      tool: hostile,
      args_preview: hostile,
      result_preview: hostile,
      reason: hostile,
      error: { code: hostile, message: hostile },
      agent: hostile,
      by: hostile,
      status: hostile,
      model: hostile,
      outcome: hostile,
    });
    expect(shown).not.toMatch(/\p{Cc}/u);
  }
});

test('a live view leaves out what the guard lets pass, never what it denies', () => {
  expect(isRoutine(event('guard.decision', { decision: 'ALLOW' }))).toBe(true);
  expect(isRoutine(event('guard.decision', { decision: 'DENY' }))).toBe(false);
  expect(isRoutine(event('tool.call.failed'))).toBe(false);
});
