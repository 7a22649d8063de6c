import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { afterEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { eventBridgeBus } from '../../../lib/adapters/event-bus/eventbridge.ts';
import { eventKey, type PlacedEvent } from '../../../lib/core/loop/event.ts';
import type { EventBus } from '../../../lib/core/ports/event-bus.ts';
import { eventFields } from '../../../lib/runtime/event-fields.ts';
import { type LoopbackServer, loopbackServer, type Reply } from '../../support/loopback-server.ts';

let server: LoopbackServer;
let client: EventBridgeClient;
afterEach(async () => {
  client.destroy();
  await server.close();
});

const warned: unknown[] = [];
async function bus(reply: () => Reply, text = false): Promise<EventBus> {
  warned.length = 0;
  server = await loopbackServer(reply);
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
  client = new EventBridgeClient({ region: 'eu-west-1', endpoint: server.url, credentials, maxAttempts: 2 });
  const logger = { warn: (...line: unknown[]) => void warned.push(line) };
  return eventBridgeBus({ client, bus: 'ops', logger, fields: (event) => eventFields(event, text) });
}
const json = (body: object, status = 200): Reply => ({
  status,
  headers: { 'content-type': 'application/x-amz-json-1.1' },
  body: JSON.stringify(body),
});
const taken = () => json({ FailedEntryCount: 0, Entries: [] });

const run = { tenant: 't1', runId: 'r-1', sessionId: 's-1' };
const called = (n: number): PlacedEvent => ({
  type: 'tool.call.started',
  at: 1_800_000_000_000,
  data: { callId: `c3-${n}`, tool: 'look', args_preview: '{"q":"SWORDFISH"}' },
  step: 3,
  key: eventKey(3, 'reason', n),
});
const entrySchema = z.object({
  EventBusName: z.string(),
  Source: z.string(),
  DetailType: z.string(),
  Time: z.number(),
  Detail: z.string(),
});
const entries = () => server.received.map(({ body }) => z.object({ Entries: z.array(entrySchema) }).parse(JSON.parse(body)).Entries);

describe('events on EventBridge', () => {
  it('say whose they are, where they stand and what happened, and nothing of arguments', async () => {
    await (await bus(taken)).publish(run, [called(0)]);
    const [[entry]] = z.tuple([z.tuple([entrySchema])]).parse(entries());
    expect(entry).toMatchObject({ EventBusName: 'ops', Source: 'handrail.events', DetailType: 'tool.call.started', Time: 1_800_000_000 });
    expect(JSON.parse(entry.Detail)).toEqual({
      ...run,
      step: 3,
      key: 'EVT#000003#0#0000',
      at: 1_800_000_000_000,
      data: { callId: 'c3-0', tool: 'look' },
    });
  });

  it('have previews only where text is switched on', async () => {
    await (await bus(taken, true)).publish(run, [called(0)]);
    expect(server.received[0]?.body).toContain('SWORDFISH');
  });

  it('go ten at a time, as the service takes them', async () => {
    await (await bus(taken)).publish(
      run,
      Array.from({ length: 23 }, (_, n) => called(n)),
    );
    expect(
      entries()
        .map((batch) => batch.length)
        .sort(),
    ).toEqual([10, 10, 3].sort());
  });

  it('that the service does not take are counted in the log and fail nothing', async () => {
    await (await bus(() => json({ FailedEntryCount: 2, Entries: [] }))).publish(run, [called(0), called(1)]);
    expect(warned).toEqual([['events could not be sent to the bus; they are in the event log', { events: 2 }]]);
  });

  it('fail nothing and hold nobody up where the bus refuses or does not answer', async () => {
    await (await bus(() => json({ __type: 'InternalException' }, 500))).publish(run, [called(0)]);
    expect(warned).toHaveLength(1);
    client.destroy();
    await server.close();
    const never = await bus(() => 'hang');
    const started = performance.now();
    await never.publish(run, [called(0)]);
    expect(performance.now() - started).toBeLessThan(10_000);
    expect(warned).toHaveLength(1);
  });
});
