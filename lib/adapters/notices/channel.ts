import { HandrailError } from '../../core/errors.ts';
import type { Logger } from '../../core/ports/logger.ts';
import type { Notice, Notices } from '../../core/ports/notices.ts';

/** One way to reach people or systems. */
export interface Channel {
  /** As the log names it. */
  readonly name: string;
  send(notice: Notice): Promise<void>;
}

/** All channels at once; one that fails keeps no other from sending. Their errors are logged here, without the link. */
export function noticesBy(channels: readonly Channel[], logger: Logger): Notices {
  return {
    async send(notice) {
      const outcomes = await Promise.allSettled(channels.map((channel) => channel.send(notice)));
      const failed = outcomes.flatMap((outcome, index) => {
        if (outcome.status === 'fulfilled') return [];
        const channel = channels[index]?.name ?? '';
        logger.error('a notice could not be sent', outcome.reason, { channel, suspensionId: notice.suspensionId });
        return [channel];
      });
      if (failed.length > 0) throw new HandrailError('SERVICE_UNAVAILABLE', `no notice by ${failed.join(', ')}`);
    },
  };
}
