import type { Notice } from '../../../lib/core/ports/notices.ts';

export const LINK = 'https://decide.example/a/r-00000000000000000000000000-3?t=0123456789abcdef';

export const newNotice = (over: Partial<Notice> = {}): Notice => ({
  tenant: 't1',
  runId: 'r-00000000000000000000000000',
  sessionId: 's1',
  suspensionId: 'r-00000000000000000000000000-3',
  link: LINK,
  task: 'Add up the sales',
  agent: 'default',
  requestedAt: 1_800_000_000_000,
  expiresAt: 1_800_086_400_000,
  approvals: [
    {
      approvalId: 'r-00000000000000000000000000-3.c3-0',
      kind: 'tool',
      tool: 'write_file',
      reason: 'tool_policy: write_file is confirm',
      arguments: '{"path":"report.md"}',
    },
  ],
  ...over,
});

/** Text of a model that tries to be more than text. */
const HOSTILE = '<!channel> <https://evil.example|Approve here> `code` & \u202eexe.md\nSecond line\r\nSubject: x';
export const hostileNotice = (): Notice => {
  const notice = newNotice({ task: HOSTILE });
  return { ...notice, approvals: notice.approvals.map((approval) => ({ ...approval, reason: HOSTILE, arguments: HOSTILE })) };
};
