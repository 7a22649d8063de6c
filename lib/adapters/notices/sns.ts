import { PublishCommand, type SNSClient } from '@aws-sdk/client-sns';
import type { Notice } from '../../core/ports/notices.ts';
import type { Channel } from './channel.ts';
import { callLines, headline, hiddenCalls, taskLine, timeText } from './text.ts';

/** Mail subjects of SNS: ASCII, below 100 characters, no line break (API reference of Publish). */
const SUBJECT_CHARACTERS = 99;

/** A topic, for mail and text messages. Retries are the client's. Subscribers can filter by the message attributes. */
export function snsChannel(client: SNSClient, topicArn: string): Channel {
  return {
    name: 'sns',
    async send(notice) {
      await client.send(
        new PublishCommand({
          TopicArn: topicArn,
          Subject: subjectOf(notice),
          Message: textOf(notice),
          MessageAttributes: {
            type: { DataType: 'String', StringValue: 'approval.requested' },
            tenant: { DataType: 'String', StringValue: notice.tenant },
            agent: { DataType: 'String', StringValue: notice.agent },
          },
        }),
      );
    },
  };
}

function subjectOf(notice: Notice): string {
  return `Handrail: ${headline(notice)}`.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, SUBJECT_CHARACTERS);
}

function textOf(notice: Notice): string {
  const hidden = hiddenCalls(notice);
  return [
    `${headline(notice)}.`,
    '',
    `Look and decide until ${timeText(notice.expiresAt)}:`,
    notice.link,
    '',
    ...callLines(notice).flatMap((call) => [`- ${call.title}: ${call.arguments}`, `  asked because: ${call.reason}`]),
    ...(hidden > 0 ? [`- and ${hidden} more`] : []),
    '',
    `Task of the run: ${taskLine(notice)}`,
    `Run ${notice.runId}, agent ${notice.agent}. What is not decided in time does not run.`,
    'The link is for you: whoever opens it can do what you can.',
  ].join('\n');
}
