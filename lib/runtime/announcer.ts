import type { Channel } from '../adapters/notices/channel.ts';
import { noticesBy } from '../adapters/notices/channel.ts';
import { configuredChannels } from '../adapters/notices/index.ts';
import type { Config } from '../core/config.ts';
import type { Announcer } from '../core/guard/approvals/notify.ts';
import type { Clock, Random } from '../core/ports/clock.ts';
import type { Logger } from '../core/ports/logger.ts';

interface AnnouncerContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly region: string | undefined;
  /** The value of one of the webhook's secrets. */
  secret(which: 'url' | 'signing', name: string): Promise<string | undefined>;
  /** The API's own address, for people when the configuration gives no other. */
  ownUrl(): string;
  /** Topics of SNS besides the configured one. */
  readonly topics?: readonly string[];
  /** Besides the configured ones. */
  readonly channels?: readonly Channel[];
}

/** How people are told, by the configuration; undefined when there is no way. */
export function announcerOf({ notices }: Pick<Config, 'notices'>, context: AnnouncerContext): Announcer | undefined {
  const channels = [...configuredChannels(notices, context), ...(context.channels ?? [])];
  if (channels.length === 0) return undefined;
  return {
    notices: noticesBy(channels, context.logger),
    random: context.random,
    baseUrl: () => (notices.base_url ?? context.ownUrl()).replace(/\/+$/, ''),
  };
}
