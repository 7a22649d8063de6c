import { expect, test } from 'vitest';
import { type Script, scriptedModel } from '../../../../lib/adapters/models/scripted.ts';
import type { ModelReply, PromptMessage } from '../../../../lib/core/ports/model.ts';

const SCRIPT: Script = {
  scenarios: [
    {
      name: 's',
      when: '*',
      turns: [
        { text: 'first', calls: [{ tool: 'compute' }], recover: { when: 'OUTCOME_UNKNOWN', text: 'once more' } },
        {
          text: 'second',
          expect: ['sum'],
          otherwise: 'it failed: {{0}}',
          calls: [{ tool: 'write' }],
          recover: { when: 'OUTCOME_UNKNOWN', text: 'I look', calls: [{ tool: 'read' }] },
        },
        { text: 'the end: {{0}}' },
      ],
    },
  ],
};

/** A conversation in which each reply's call gets the next of `results`; what was said and called, in order. */
async function talk(...results: readonly string[]): Promise<[string, string | undefined][]> {
  const model = scriptedModel(SCRIPT);
  const messages: PromptMessage[] = [{ role: 'user', text: 'go' }];
  const said: [string, string | undefined][] = [];
  for (let index = 0; ; index++) {
    const reply: ModelReply = await model.generate({
      system: '',
      messages,
      tools: [],
      toolChoice: 'auto',
      signal: new AbortController().signal,
    });
    const [call] = reply.calls;
    said.push([reply.text, call?.name]);
    if (!call) return said;
    const id = call.id ?? '';
    messages.push({ role: 'assistant', text: reply.text, calls: [{ id, name: call.name, arguments: {} }] });
    messages.push({ role: 'tool', results: [{ id, name: call.name, text: results[index] ?? 'missing', isError: false }] });
  }
}

test('a script goes on from turn to turn', async () => {
  expect(await talk('sum 3', 'written')).toEqual([
    ['first', 'compute'],
    ['second', 'write'],
    ['the end: written', undefined],
  ]);
});

test('a call of which nobody knows what became is made again, or looked after, as often as that takes; then the script goes on', async () => {
  expect(await talk('OUTCOME_UNKNOWN', 'OUTCOME_UNKNOWN', 'sum 3', 'OUTCOME_UNKNOWN', 'it is there')).toEqual([
    ['first', 'compute'],
    ['once more', 'compute'],
    ['once more', 'compute'],
    ['second', 'write'],
    ['I look', 'read'],
    ['the end: it is there', undefined],
  ]);
});

test('a result that the next turn cannot use ends in an answer that says so', async () => {
  expect(await talk('GUARD_DENIED')).toEqual([
    ['first', 'compute'],
    ['it failed: GUARD_DENIED', undefined],
  ]);
});
