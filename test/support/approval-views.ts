import type { Approval, Suspension } from '../../lib/core/guard/approvals/suspension.ts';
import type { PlacedEvent } from '../../lib/core/loop/event.ts';
import type { Run } from '../../lib/core/loop/run.ts';
import { fakeRun, fakeSuspension, NOW } from '../unit/api/fake-services.ts';

/** What the approval page can be asked to show, by the name of the view. */
export interface View {
  readonly suspension: Suspension;
  readonly run: Run;
  readonly events: readonly PlacedEvent[];
  /** Statuses of the approvals: whoever looks for one view looks at these words first. */
  readonly title: RegExp;
}

const HOUR = 3_600_000;
const run = fakeRun(1, {
  status: 'waiting',
  plan: { next: 'suspend', suspensionId: `${fakeRun(1).runId}-3` },
  input: 'Add up the sales of the second quarter by region, write a report, and mail it to the sales team.',
  principal: 'alpha:ann',
  createdAt: NOW - 3 * 60_000,
  activeMs: 41_000,
});

const event = (n: number, type: PlacedEvent['type'], data: PlacedEvent['data']): PlacedEvent => ({
  type,
  at: NOW - 120_000 + n,
  data,
  step: 2,
  key: `EVT#000002#0#${String(n).padStart(4, '0')}`,
});
const events = [
  event(0, 'tool.call.started', { callId: 'c1-0', tool: 'list_directory', args_preview: '{"path":"."}' }),
  event(1, 'tool.call.completed', { callId: 'c1-0', tool: 'list_directory', result_preview: 'sales.csv\nnotes/' }),
  event(2, 'tool.call.completed', {
    callId: 'c2-0',
    tool: 'read_file',
    result_preview: 'date,region,amount\n2026-04-01,North,1200\n2026-04-02,South,830',
  }),
  event(3, 'tool.call.failed', { callId: 'c2-1', tool: 'execute_python', error: { code: 'TIMEOUT', message: 'did not end within 30 s' } }),
];

export const REPORT = `# Sales, second quarter\n\n| region | amount |\n| --- | --- |\n| North | 48,210 |\n| South | 39,774 |\n\nNorth grew by 12 %, South stayed level.\n`;
/** Looks like `report-txt.sh` read backwards, and hides a terminal's bell and a blank between two words. */
const TRICKY = 'report-\u202ehs.txt\u202c and a bell\u0007, a b\u200blank';
export const SECRET = 'sk-live-abcdefghijklmnop';

const write = { path: 'report.md', content: REPORT, mode: 'overwrite' };
const mail = {
  to: ['sales@example.com'],
  subject: 'Q2 <b>report</b>',
  note: TRICKY,
  api_key: 'hunter2hunter2',
  header: `Bearer ${SECRET}`,
};
const question = { question: 'The file has two columns that may be the amount: “net” and “gross”.\nWhich one do you want me to add up?' };

type Some = Partial<Approval> & Pick<Approval, 'tool'>;
function suspensionOf(approvals: readonly Some[], over: Partial<Suspension> = {}): Suspension {
  const base = fakeSuspension(
    run,
    approvals.map(({ tool }) => tool),
    { expiresAt: NOW + 23 * HOUR + 59 * 60_000 },
  );
  const filled = Object.values(base.approvals).map((approval, index): [string, Approval] => [
    approval.callId,
    { ...approval, ...approvals[index] },
  ]);
  return { ...base, approvals: Object.fromEntries(filled), ...over };
}
const decided = (status: Approval['status'], decision: Partial<NonNullable<Approval['decision']>> = {}) => ({
  status,
  decision: { by: 'alpha:bob', at: NOW - 4 * 60_000, how: 'page', ...decision },
});
const view = (title: RegExp, approvals: readonly Some[], over: Partial<Run> = {}): View => ({
  title,
  suspension: suspensionOf(approvals),
  run: { ...run, ...over },
  events,
});

export const views = {
  one: () => view(/May write_file run\?/, [{ tool: 'write_file', arguments: write, reason: 'tool_policy: write_file is confirm (app)' }]),
  several: () =>
    view(/3 decisions are waiting/, [
      { tool: 'write_file', arguments: write, reason: 'tool_policy: write_file is confirm (app)' },
      { tool: 'send_mail', arguments: mail, reason: 'flow: this run has read workspace files, and send_mail can send data out' },
      { tool: 'ask_user', kind: 'question', arguments: question, reason: 'the agent asks' },
    ]),
  question: () => view(/The agent has a question/, [{ tool: 'ask_user', kind: 'question', arguments: question, reason: 'the agent asks' }]),
  choices: () =>
    view(/The agent has a question/, [
      {
        tool: 'ask_user',
        kind: 'question',
        arguments: { ...question, choices: ['net', 'gross', 'both, in two columns'] },
        reason: 'the agent asks',
      },
    ]),
  node: () =>
    view(/May publish run\?/, [{ tool: 'publish', kind: 'node', arguments: { channel: 'blog' }, reason: 'approve_node before publish' }]),
  approved: () =>
    view(/write_file was approved/, [{ tool: 'write_file', arguments: write, ...decided('approved', { by: 'link:0123abcd' }) }], {
      status: 'running',
    }),
  mixed: () =>
    view(
      /Everything is decided/,
      [
        { tool: 'write_file', arguments: write, ...decided('edited', { arguments: { ...write, path: 'drafts/report.md' } }) },
        { tool: 'send_mail', arguments: mail, ...decided('rejected', { reason: 'Not before the figures are checked.' }) },
        { tool: 'ask_user', kind: 'question', arguments: question, ...decided('answered', { answer: 'net' }) },
      ],
      { status: 'succeeded', outcome: 'completed' },
    ),
  expired: () => view(/The time to decide is over/, [{ tool: 'write_file', arguments: write, expiresAt: NOW - 2 * HOUR }]),
  cancelled: () =>
    view(
      /Nobody needs to decide any more/,
      [{ tool: 'write_file', arguments: write, ...decided('cancelled', { by: 'cancel', how: 'cancel' }) }],
      {
        status: 'cancelled',
        outcome: 'cancelled',
      },
    ),
  cut: () =>
    view(/May write_file run\?/, [
      {
        tool: 'write_file',
        arguments: { path: 'big.txt', content: `${'All work and no play. '.repeat(60)}… [90000 more characters]` },
        argumentsCut: true,
      },
    ]),
} satisfies Record<string, () => View>;
export type ViewName = keyof typeof views;
