import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { SNSClient } from '@aws-sdk/client-sns';
import { afterEach, describe, expect, it } from 'vitest';
import { type Channel, noticesBy } from '../../../lib/adapters/notices/channel.ts';
import { eventBridgeChannel } from '../../../lib/adapters/notices/eventbridge.ts';
import { snsChannel } from '../../../lib/adapters/notices/sns.ts';
import type { Logger } from '../../../lib/core/ports/logger.ts';
import { type LoopbackServer, loopbackServer, type Reply } from '../../support/loopback-server.ts';
import { hostileNotice, LINK, newNotice } from './samples.ts';

const TOPIC = 'arn:aws:sns:eu-west-1:123456789012:approvals';
let server: LoopbackServer;
const clients: { destroy(): void }[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  await server.close();
});

const options = () => ({
  region: 'eu-west-1',
  endpoint: server.url,
  credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  maxAttempts: 2,
});

async function sns(reply: Reply): Promise<Channel> {
  server = await loopbackServer(() => reply);
  const client = new SNSClient(options());
  clients.push(client);
  return snsChannel(client, TOPIC);
}
const PUBLISHED: Reply = {
  status: 200,
  headers: { 'content-type': 'text/xml' },
  body: '<PublishResponse><PublishResult><MessageId>1</MessageId></PublishResult><ResponseMetadata><RequestId>1</RequestId></ResponseMetadata></PublishResponse>',
};
const published = () => Object.fromEntries(new URLSearchParams(server.received[0]?.body));

describe('SNS', () => {
  it('is given a mail with the link, what is asked, and attributes to filter by', async () => {
    await (await sns(PUBLISHED)).send(newNotice());
    const { Subject, Message, TopicArn, Action, ...rest } = published();
    expect({ Action, TopicArn, Subject }).toEqual({
      Action: 'Publish',
      TopicArn: TOPIC,
      Subject: 'Handrail: write_file needs your decision',
    });
    expect(Message?.split('\n')).toContain(LINK);
    expect(Message).toContain('- write_file: {"path":"report.md"}\n  asked because: tool_policy: write_file is confirm');
    expect(Message).toContain('until 2027-01-16 08:00 UTC');
    expect(Object.values(rest)).toEqual(expect.arrayContaining(['type', 'approval.requested', 'tenant', 't1', 'agent', 'default']));
  });

  it('is given a subject that the service takes, and lines that no model can add to', async () => {
    const notice = hostileNotice();
    const approvals = notice.approvals.map((approval) => ({ ...approval, tool: `é\n${'x'.repeat(300)}` }));
    await (await sns(PUBLISHED)).send({ ...notice, approvals });
    const { Subject = '', Message = '' } = published();
    expect(Subject).toMatch(/^[\x20-\x7e]{1,99}$/);
    expect(Message).not.toMatch(/^Subject:|^Second line|\u202e/m);
  });

  it('throws what outlives the retries of the client', async () => {
    const channel = await sns({
      status: 500,
      headers: { 'content-type': 'text/xml' },
      body: '<ErrorResponse><Error><Code>InternalError</Code></Error></ErrorResponse>',
    });
    await expect(channel.send(newNotice())).rejects.toThrow();
    expect(server.received).toHaveLength(2);
  });
});

async function bus(reply: Reply): Promise<Channel> {
  server = await loopbackServer(() => reply);
  const client = new EventBridgeClient(options());
  clients.push(client);
  return eventBridgeChannel(client, 'ops');
}
const json = (body: object): Reply => ({
  status: 200,
  headers: { 'content-type': 'application/x-amz-json-1.1' },
  body: JSON.stringify(body),
});

describe('EventBridge', () => {
  it('is given the notice as the detail of an event that rules can match', async () => {
    await (await bus(json({ FailedEntryCount: 0, Entries: [{ EventId: '1' }] }))).send(newNotice());
    expect(server.received[0]?.headers['x-amz-target']).toBe('AWSEvents.PutEvents');
    const { Entries } = JSON.parse(server.received[0]?.body ?? '');
    expect(Entries).toEqual([{ EventBusName: 'ops', Source: 'handrail', DetailType: 'approval.requested', Detail: expect.any(String) }]);
    expect(JSON.parse(Entries[0].Detail)).toEqual(newNotice());
  });

  it('is given an entry within the limit of the service, whatever is asked', async () => {
    const long = '\u0000'.repeat(500);
    const many = newNotice().approvals.flatMap((approval) =>
      Array.from({ length: 128 }, () => ({ ...approval, reason: long, arguments: long })),
    );
    await (await bus(json({ FailedEntryCount: 0, Entries: [] }))).send(newNotice({ approvals: many }));
    const { Entries } = JSON.parse(server.received[0]?.body ?? '');
    expect(Buffer.byteLength(Entries[0].Detail)).toBeLessThan(256 * 1024);
    expect(JSON.parse(Entries[0].Detail)).toMatchObject({ link: LINK });
  });

  it('throws for an entry that the bus did not take, although it answers 200', async () => {
    const channel = await bus(json({ FailedEntryCount: 1, Entries: [{ ErrorCode: 'ThrottlingException', ErrorMessage: 'slow down' }] }));
    await expect(channel.send(newNotice())).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      message: expect.stringContaining('ThrottlingException'),
    });
  });
});

describe('several channels', () => {
  it('are all sent to, each failure is logged by its name, and the whole fails', async () => {
    server = await loopbackServer(() => PUBLISHED);
    const [sent, logged]: [string[], string[]] = [[], []];
    const logger: Logger = {
      debug() {},
      info() {},
      warn() {},
      error: (message, error, fields) => logged.push(JSON.stringify([message, String(error), fields])),
    };
    const channel = (name: string, fails = false): Channel => ({
      name,
      async send() {
        sent.push(name);
        if (fails) throw new Error(`${name} is down`);
      },
    });
    const notices = noticesBy([channel('a'), channel('b', true), channel('c')], logger);

    await expect(notices.send(newNotice())).rejects.toMatchObject({ message: 'no notice by b' });
    expect(sent).toEqual(['a', 'b', 'c']);
    expect(logged).toEqual([expect.stringContaining('b is down')]);
    expect(logged.join()).not.toContain(LINK);
    await expect(noticesBy([channel('a')], logger).send(newNotice())).resolves.toBeUndefined();
  });
});
