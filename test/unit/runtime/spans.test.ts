import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { spansTo } from '../../../lib/runtime/spans.ts';

const ROOT = '1-67891233-abcdef012345678912345678';
const HEADER = `Root=${ROOT};Parent=53995c3f42cd8ad8;Sampled=1;Lineage=1:a87bd80c:0`;
let daemon: Socket;
let received: string[];
beforeEach(async () => {
  received = [];
  daemon = createSocket('udp4');
  daemon.on('message', (message) => received.push(message.toString()));
  daemon.bind(0, '127.0.0.1');
  await once(daemon, 'listening');
});
afterEach(() => void daemon.close());

let now = 1_800_000_000_000;
const spans = (trace: string | undefined) => {
  const { port } = daemon.address() as AddressInfo;
  return spansTo({ trace: () => trace, daemon: () => `127.0.0.1:${port}`, now: () => now });
};
const work = async () => {
  now += 1_500;
  return 'done';
};

it('work is a subsegment of the invocation, with its times and what it is about', async () => {
  expect(await spans(HEADER)('execute "shell"', { run: 'r-1', call: 'c1-0' }, work)).toBe('done');
  await expect.poll(() => received).toHaveLength(1);
  const [header = '', document = ''] = received[0]?.split('\n') ?? [];
  expect(JSON.parse(header)).toEqual({ format: 'json', version: 1 });
  expect(JSON.parse(document)).toEqual({
    name: 'execute _shell_',
    type: 'subsegment',
    trace_id: ROOT,
    parent_id: '53995c3f42cd8ad8',
    id: expect.stringMatching(/^[0-9a-f]{16}$/),
    start_time: (now - 1_500) / 1000,
    end_time: now / 1000,
    annotations: { run: 'r-1', call: 'c1-0' },
  });
});

it('work that fails is a fault, and fails as before', async () => {
  const failing = async () => {
    throw new Error('the text of a person');
  };
  await expect(spans(HEADER)('look', {}, failing)).rejects.toThrow('the text of a person');
  await expect.poll(() => received).toHaveLength(1);
  expect(received[0]).toContain('"fault":true');
  expect(received[0]).not.toContain('text of a person');
});

it('nothing is sent of a trace that is not sampled, nor where nobody listens', async () => {
  for (const trace of [undefined, HEADER.replace('Sampled=1', 'Sampled=0'), 'Root=;Sampled=1'])
    expect(await spans(trace)('look', {}, work)).toBe('done');
  expect(await spansTo({ trace: () => HEADER, daemon: () => undefined, now: () => now })('look', {}, work)).toBe('done');
  await spans(HEADER)('last', {}, work);
  await expect.poll(() => received).toHaveLength(1);
  expect(received[0]).toContain('"last"');
});
