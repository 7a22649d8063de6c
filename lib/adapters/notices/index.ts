import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { SNSClient } from '@aws-sdk/client-sns';
import type { Config } from '../../core/config.ts';
import { HandrailError } from '../../core/errors.ts';
import type { Clock, Random } from '../../core/ports/clock.ts';
import type { Channel } from './channel.ts';
import { eventBridgeChannel } from './eventbridge.ts';
import { snsChannel } from './sns.ts';
import { webhookChannel } from './webhook.ts';

export interface ChannelContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly region: string | undefined;
  /** Topics besides the configured one. */
  readonly topics?: readonly string[];
  /** The webhook's secrets: from Secrets Manager by the configured name, on a laptop from the environment. Read at each notice. */
  secret(which: 'url' | 'signing', name: string): Promise<string | undefined>;
}

/** Every configured way to tell people (`notices` in the configuration). */
export function configuredChannels({ webhook, sns_topic_arn, event_bus }: Config['notices'], context: ChannelContext): Channel[] {
  const region = context.region === undefined ? {} : { region: context.region };
  const channels: Channel[] = [];
  if (webhook) channels.push(webhookOf(webhook, context));
  for (const topic of new Set([...(sns_topic_arn ? [sns_topic_arn] : []), ...(context.topics ?? [])]))
    channels.push(snsChannel(new SNSClient(region), topic));
  if (event_bus) channels.push(eventBridgeChannel(new EventBridgeClient(region), event_bus));
  return channels;
}

function webhookOf(webhook: NonNullable<Config['notices']['webhook']>, context: ChannelContext): Channel {
  const needed = async (which: 'url' | 'signing', name: string): Promise<string> => {
    const value = await context.secret(which, name);
    if (!value) throw new HandrailError('INTERNAL', `notices.webhook: the secret ${name} is empty or not there`);
    return value;
  };
  const { clock, random } = context;
  return webhookChannel({
    url: async () => webhook.url ?? needed('url', webhook.url_secret ?? ''),
    secret: async () => (webhook.signing_secret === undefined ? undefined : needed('signing', webhook.signing_secret)),
    format: webhook.format,
    clock,
    random,
  });
}
