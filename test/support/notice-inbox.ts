import { CreateEventBusCommand, EventBridgeClient, PutRuleCommand, PutTargetsCommand } from '@aws-sdk/client-eventbridge';
import { ConfirmSubscriptionCommand, CreateTopicCommand, SNSClient, SubscribeCommand } from '@aws-sdk/client-sns';
import * as z from 'zod';
import { emulatorClient } from './emulator.ts';
import { loopbackServer } from './loopback-server.ts';

const messageSchema = z.object({
  Type: z.string(),
  TopicArn: z.string(),
  Token: z.string().optional(),
  Subject: z.string().nullish(),
  Message: z.string(),
});
type Message = z.infer<typeof messageSchema>;

export interface NoticeInbox {
  /** Messages that came from the topic, in order. */
  from(topicArn: string): Message[];
  /** Has a topic, which is made if it is not there, bring its messages here. */
  subscribe(topicName: string): Promise<string>;
  /** A bus whose events of Handrail are brought here by way of a topic of their own; `from(topicArn)` has them. */
  bus(name: string): Promise<{ readonly topicArn: string }>;
  close(): Promise<void>;
}

/** Who is told, on an emulator: a subscriber over HTTP, as a pager or a chat bridge would be. */
export async function noticeInbox(endpoint: string): Promise<NoticeInbox> {
  const sns = new SNSClient(emulatorClient(endpoint));
  const events = new EventBridgeClient(emulatorClient(endpoint));
  const server = await loopbackServer(() => ({ status: 200 }));
  const messages = () => server.received.map(({ body }) => messageSchema.parse(JSON.parse(body)));
  const subscribe = async (topicName: string): Promise<string> => {
    const { TopicArn = '' } = await sns.send(new CreateTopicCommand({ Name: topicName }));
    await sns.send(new SubscribeCommand({ TopicArn, Protocol: 'http', Endpoint: server.url }));
    for (let tries = 0; tries < 100; tries++) {
      const asked = messages().find((message) => message.TopicArn === TopicArn && message.Token !== undefined);
      if (asked) {
        await sns.send(new ConfirmSubscriptionCommand({ TopicArn, Token: asked.Token }));
        return TopicArn;
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`${topicName} never asked for a confirmation`);
  };
  return {
    from: (topicArn) => messages().filter((message) => message.TopicArn === topicArn && message.Type === 'Notification'),
    subscribe,
    async bus(name) {
      const topicArn = await subscribe(`${name}-events`);
      await events.send(new CreateEventBusCommand({ Name: name }));
      await events.send(new PutRuleCommand({ Name: 'asked', EventBusName: name, EventPattern: JSON.stringify({ source: ['handrail'] }) }));
      await events.send(new PutTargetsCommand({ Rule: 'asked', EventBusName: name, Targets: [{ Id: 'inbox', Arn: topicArn }] }));
      return { topicArn };
    },
    close: () => server.close(),
  };
}
