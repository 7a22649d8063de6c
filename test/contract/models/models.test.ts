import { afterEach, describe, expect, it } from 'vitest';
import { createModel } from '../../../lib/adapters/models/index.ts';
import type { Model, ModelRequest } from '../../../lib/core/ports/model.ts';
import { seededRandom, TestClock } from '../../support/time.ts';
import { type Reply, serve, type Wire, wires } from './wire.ts';

const weather = {
  name: 'get_weather',
  description: 'Weather of a city.',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

const question: ModelRequest = {
  system: 'Be brief.',
  messages: [{ role: 'user', text: 'Weather in Paris and Rome?' }],
  tools: [weather],
  toolChoice: 'auto',
  signal: AbortSignal.timeout(10_000),
};

const withHistory: ModelRequest = {
  ...question,
  messages: [
    ...question.messages,
    {
      role: 'assistant',
      text: 'Looking.',
      calls: [
        { id: 'c00100100', name: 'get_weather', arguments: { city: 'Paris' } },
        { id: 'c00100101', name: 'get_weather', arguments: {} },
      ],
    },
    {
      role: 'tool',
      results: [
        { id: 'c00100100', name: 'get_weather', text: 'sunny', isError: false },
        { id: 'c00100101', name: 'get_weather', text: 'INVALID_ARGUMENTS: city is missing', isError: true },
      ],
    },
  ],
};

let close: (() => Promise<void>) | undefined;
afterEach(async () => {
  await close?.();
  close = undefined;
});

async function modelOf(
  wire: Wire,
  replies: Reply[],
): Promise<{ model: Model; clock: TestClock; requests: Awaited<ReturnType<typeof serve>>['requests'] }> {
  const server = await serve(replies);
  close = server.close;
  const clock = new TestClock();
  const model = await createModel(wire.config(server.url), {
    clock,
    random: seededRandom(),
    apiKey: async () => 'test-key',
    readText: async () => '',
    region: 'us-east-1',
    awsCredentials: async () => ({ accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret' }),
  });
  return { model, clock, requests: server.requests };
}

describe.each(wires)('$name', (wire) => {
  it('gives the answer, the usage, and asks at the right address with the tools', async () => {
    const { model, requests } = await modelOf(wire, [
      { status: 200, body: wire.encode({ text: 'Sunny.', finish: 'stop', usage: { prompt: 12, completion: 3 } }) },
    ]);
    const reply = await model.generate(question);
    expect(reply).toMatchObject({ text: 'Sunny.', calls: [], finish: 'stop', usage: { promptTokens: 12, completionTokens: 3 } });
    expect(requests[0]?.path).toMatch(wire.path);
    expect(wire.readRequest(requests[0]?.body ?? {}).tools).toEqual(['get_weather']);
  });

  it('gives parallel tool calls in order with their ids and the text beside them', async () => {
    const calls = [
      { id: 'call_a', name: 'get_weather', arguments: '{"city":"Paris"}' },
      { id: 'call_b', name: 'get_weather', arguments: '{"city":"Rome"}' },
    ];
    const { model } = await modelOf(wire, [
      { status: 200, body: wire.encode({ text: 'Looking.', calls, finish: 'tool_calls', usage: { prompt: 1, completion: 1 } }) },
    ]);
    const reply = await model.generate(question);
    expect(reply.text).toBe('Looking.');
    expect(reply.finish).toBe('tool_calls');
    expect(reply.calls.map(({ id, name, arguments: args }) => ({ id, name, args: JSON.parse(String(args)) }))).toEqual([
      { id: 'call_a', name: 'get_weather', args: { city: 'Paris' } },
      { id: 'call_b', name: 'get_weather', args: { city: 'Rome' } },
    ]);
  });

  it('R51: gives the calls although the finish reason says "stop"', async () => {
    const calls = [{ id: 'call_a', name: 'get_weather', arguments: '{"city":"Paris"}' }];
    const { model } = await modelOf(wire, [
      { status: 200, body: wire.encode({ calls, finish: 'stop', usage: { prompt: 1, completion: 1 } }) },
    ]);
    expect((await model.generate(question)).calls).toHaveLength(1);
  });

  it('sends history with every call answered under the same id', async () => {
    const { model, requests } = await modelOf(wire, [
      { status: 200, body: wire.encode({ text: 'Sunny.', finish: 'stop', usage: { prompt: 1, completion: 1 } }) },
    ]);
    await model.generate(withHistory);
    expect(wire.readRequest(requests[0]?.body ?? {}).resultIds).toEqual(['c00100100', 'c00100101']);
  });

  it('forbids tools for a last word', async () => {
    const { model, requests } = await modelOf(wire, [
      { status: 200, body: wire.encode({ text: 'Sunny.', finish: 'stop', usage: { prompt: 1, completion: 1 } }) },
    ]);
    expect((await model.generate({ ...withHistory, toolChoice: 'none' })).text).toBe('Sunny.');
    const body = JSON.stringify(requests[0]?.body);
    expect(body).toContain('sunny');
    if (wire.name === 'openai-compatible') expect(requests[0]?.body).toMatchObject({ tool_choice: 'none' });
    else expect(wire.readRequest(requests[0]?.body ?? {}).tools).toEqual([]);
  });

  it('waits as told after 429 and then succeeds', async () => {
    const { model, clock, requests } = await modelOf(wire, [
      {
        status: 429,
        headers: { 'retry-after': '7' },
        body: { error: { type: 'rate_limit_error', message: 'slow down' }, message: 'slow down' },
      },
      { status: 200, body: wire.encode({ text: 'Sunny.', finish: 'stop', usage: { prompt: 1, completion: 1 } }) },
    ]);
    const before = clock.now();
    expect((await model.generate(question)).text).toBe('Sunny.');
    expect(clock.now() - before).toBe(7_000);
    expect(requests).toHaveLength(2);
  });

  it('gives up on 503 after its retries and throws', async () => {
    const { model, requests } = await modelOf(
      wire,
      Array.from({ length: 9 }, () => ({
        status: 503,
        body: { error: { type: 'overloaded_error', message: 'overloaded' }, message: 'overloaded' },
      })),
    );
    await expect(model.generate(question)).rejects.toThrow();
    expect(requests).toHaveLength(5);
  });

  it('does not repeat a request that is refused as wrong', async () => {
    const { model, requests } = await modelOf(wire, [
      { status: 400, body: { error: { type: 'invalid_request_error', message: 'bad field' }, message: 'bad field' } },
    ]);
    await expect(model.generate(question)).rejects.toThrow(/bad field/);
    expect(requests).toHaveLength(1);
  });

  it('throws without the key that the provider repeats', async () => {
    const message = 'Incorrect key provided: test-key';
    const { model } = await modelOf(wire, [{ status: 401, body: { error: { type: 'authentication_error', message }, message } }]);
    const thrown = await model.generate(question).catch((error: unknown) => error);
    expect(thrown).toMatchObject({ message: expect.stringContaining('Incorrect key provided') });
    // Bedrock has no key but signatures.
    if (wire.name !== 'bedrock') expect(String(thrown)).not.toContain('test-key');
  });

  it('throws when the response breaks off in the middle', async () => {
    const { model } = await modelOf(
      wire,
      Array.from({ length: 9 }, () => ({
        status: 200,
        cut: true,
        body: wire.encode({ text: 'x'.repeat(500), finish: 'stop' as const, usage: { prompt: 1, completion: 1 } }),
      })),
    );
    await expect(model.generate(question)).rejects.toThrow();
  });

  it('marks a response that was cut at the output limit', async () => {
    const { model } = await modelOf(wire, [
      { status: 200, body: wire.encode({ text: 'It is', finish: 'length', usage: { prompt: 1, completion: 1 } }) },
    ]);
    expect(await model.generate(question)).toMatchObject({ text: 'It is', finish: 'length' });
  });

  it('marks a refusal', async () => {
    const { model } = await modelOf(wire, [
      { status: 200, body: wire.encode({ text: '', finish: 'refusal', usage: { prompt: 1, completion: 1 } }) },
    ]);
    expect(await model.generate(question)).toMatchObject({ text: '', calls: [], finish: 'refusal' });
  });

  it('says that usage is unknown when there is none', async () => {
    const { model } = await modelOf(wire, [{ status: 200, body: wire.encode({ text: 'Sunny.', finish: 'stop' }) }]);
    expect((await model.generate(question)).usage).toEqual({
      promptTokens: undefined,
      completionTokens: undefined,
      totalTokens: undefined,
    });
  });

  it.runIf(wire.rawArguments)('hands on arguments that are not JSON as they came', async () => {
    const { model } = await modelOf(wire, [
      { status: 200, body: wire.encode({ calls: [{ id: 'a', name: 'get_weather', arguments: '{"city": "Par' }], finish: 'tool_calls' }) },
    ]);
    expect((await model.generate(question)).calls[0]?.arguments).toBe('{"city": "Par');
  });
});
