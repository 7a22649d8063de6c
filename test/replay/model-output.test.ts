import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defineTool } from '../../lib/core/hands/define-tool.ts';
import { createRegistry } from '../../lib/core/hands/registry.ts';
import { faultsIn, type ReplayServer, replayServer, resultsIn } from '../support/replay.ts';

/** What providers take as a tool's name, all of them together. */
const PROVIDER_NAME = /^[A-Za-z][A-Za-z0-9_-]{0,62}$/;
const list: readonly [string, unknown] = ['list_directory', { path: '.' }];

describe('replays about what models send', () => {
  let server: ReplayServer;
  beforeAll(async () => {
    server = await replayServer();
  });
  afterAll(() => server.close());

  it.each([
    ['empty', ''],
    ['absent', undefined],
    ['null', null],
    ['the text "null"', 'null'],
    ['blank', ' \n'],
  ])('R43: arguments that are %s are {} where the schema allows it and an error where not', async (_what, args) => {
    const { runId, prompts } = await server.play([
      {
        calls: [
          ['list_directory', args],
          ['write_file', args],
        ],
      },
      'done',
    ]);
    expect(await server.api.ended(runId)).toMatchObject({ status: 'succeeded', answer: 'done' });
    expect(faultsIn(prompts)).toEqual([]);
    const [listed, written] = resultsIn(prompts[1]);
    expect(listed).toMatchObject({ isError: false });
    expect(written?.text).toMatch(/INVALID_ARGUMENTS.*path/);
  });

  it.each(['[]', '"x"', '42', 'true', '[{"path":"."}]'])('R45: arguments that are JSON but no object: %s', async (args) => {
    const { runId, prompts } = await server.play([{ calls: [['list_directory', args], list] }, 'done']);
    expect(await server.api.ended(runId)).toMatchObject({ status: 'succeeded' });
    expect(faultsIn(prompts)).toEqual([]);
    expect(resultsIn(prompts[1]).map(({ isError }) => isError)).toEqual([true, false]);
    expect(resultsIn(prompts[1])[0]?.text).toContain('INVALID_ARGUMENTS');
  });

  it.each([
    ['text', `{"path": "${'x'.repeat(1_000_000)}`],
    ['a list', JSON.stringify(['y'.repeat(1_000_000)])],
    ['an unknown argument', JSON.stringify({ ['z'.repeat(1_000_000)]: 1 })],
    ['noise', '#'.repeat(1_000_000)],
  ])('R45: a bad payload of a megabyte (%s) is not echoed', async (_what, args) => {
    const { runId, prompts } = await server.play([{ calls: [['list_directory', args]] }, 'done']);
    expect(await server.api.ended(runId)).toMatchObject({ status: 'succeeded' });
    expect(JSON.stringify(prompts[1]?.messages).length).toBeLessThan(5_000);
    expect(JSON.stringify(await server.api.events(runId)).length).toBeLessThan(10_000);
  });

  it('R47: an unknown tool beside a valid call: one error that lists the tools, one result', async () => {
    const { runId, prompts } = await server.play([{ calls: [['lsit_directory', { path: '.' }], list] }, 'done']);
    expect(await server.api.ended(runId)).toMatchObject({ status: 'succeeded', answer: 'done', effects: { 'fs.read': 1 } });
    const [unknown, known] = resultsIn(prompts[1]);
    expect(unknown?.text).toMatch(/TOOL_NOT_FOUND.*there are: .*write_file, list_directory[\s\S]*Did you mean "list_directory"/);
    expect(known).toMatchObject({ isError: false });
  });

  it('R49: whatever name the model made up, the next request names only what every provider takes', async () => {
    const names = ['a.b', 'a_b', '1x', 'x'.repeat(70), '', ' ', 'функция', '__proto__', 'constructor', 'read file', '😀', '-'];
    const { runId, prompts } = await server.play([{ calls: [...names.map((name) => [name, {}] as const), list] }, 'done']);
    expect(await server.api.ended(runId)).toMatchObject({ status: 'succeeded', answer: 'done', effects: { 'fs.read': 1 } });
    expect(faultsIn(prompts)).toEqual([]);
    const shown = (prompts[1]?.messages ?? []).flatMap((message) => (message.role === 'assistant' ? message.calls : []));
    expect(shown).toHaveLength(names.length + 1);
    for (const { name } of shown) expect(name).toMatch(PROVIDER_NAME);
    const results = resultsIn(prompts[1]);
    expect(results.map(({ name }) => name)).toEqual(shown.map(({ name }) => name));
    expect(results[0]?.text).toContain('"a.b"');
    expect(results[1]?.text).toContain('"a_b"');
  });

  it('R49: a tool with such a name, or one that collides with another, is refused where it is defined', () => {
    const named = (name: string) => defineTool({ name, description: 'd', parameters: { type: 'object' }, category: 'built-in' });
    for (const name of ['a.b', '1x', 'x'.repeat(70), 'A', '', 'a-b', 'a b']) expect(() => named(name)).toThrow();
    const registry = createRegistry([]);
    registry.register(named('a_b'));
    expect(() => registry.register(named('a_b'))).toThrow(expect.objectContaining({ code: 'CONFLICT' }));
    for (const { name } of registry.toolsForModel()) expect(name).toMatch(PROVIDER_NAME);
  });

  it.each(['stop', 'length', 'other', 'refusal'] as const)(
    'R51: calls are carried out although the finish reason is "%s"',
    async (finish) => {
      const { runId, prompts } = await server.play([{ text: 'I look.', calls: [list], finish }, 'done']);
      expect(await server.api.ended(runId)).toMatchObject({ status: 'succeeded', answer: 'done', effects: { 'fs.read': 1 } });
      expect(faultsIn(prompts)).toEqual([]);
    },
  );

  it('R51: a finish reason of "tool_calls" without a call is an answer', async () => {
    const { runId } = await server.play([{ text: 'That is all.', calls: [], finish: 'tool_calls' }]);
    expect(await server.api.ended(runId)).toMatchObject({ status: 'succeeded', answer: 'That is all.' });
  });
});
