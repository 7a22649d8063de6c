import type { Notice } from '../../core/ports/notices.ts';
import { callLines, headline, hiddenCalls, taskLine, timeText } from './text.ts';

/** A message of Slack: `text` for notifications and for readers that know no blocks. Nothing a model wrote can link or mention. */
export function slackMessage(notice: Notice): object {
  const hidden = hiddenCalls(notice);
  const calls = callLines(notice).map((call) => `*${escaped(call.title)}*  ${code(call.arguments)}\n_${escaped(call.reason)}_`);
  const context = `Task: ${escaped(taskLine(notice))} · agent ${escaped(notice.agent)} · until ${timeText(notice.expiresAt)} · run ${notice.runId}`;
  return {
    text: `${escaped(headline(notice))}: ${notice.link}`,
    blocks: [
      section(`*${escaped(headline(notice))}*`),
      ...calls.map(section),
      ...(hidden > 0 ? [section(`and ${hidden} more`)] : []),
      { type: 'actions', elements: [{ type: 'button', style: 'primary', text: plain('Look and decide'), url: notice.link }] },
      { type: 'context', elements: [{ type: 'mrkdwn', text: context }] },
    ],
  };
}

const section = (text: string) => ({ type: 'section', text: { type: 'mrkdwn', text } });
const plain = (text: string) => ({ type: 'plain_text', text });
/** Slack reads `<…>` as a link or a mention. */
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
/** No backtick of the text can end it early. */
const code = (text: string): string => `\`${escaped(text).replaceAll('`', 'ˋ')}\``;
