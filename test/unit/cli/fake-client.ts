import { approvalViews } from '../../../lib/api/views/approval-view.ts';
import { type RunView, runView } from '../../../lib/api/views/run-view.ts';
import type { ApiClient, Decision, EventList, ShownEvent } from '../../../lib/cli/client.ts';
import { HandrailError } from '../../../lib/core/errors.ts';
import type { Run } from '../../../lib/core/loop/run.ts';
import { fakeCost, fakeRun, fakeSuspension, NOW } from '../api/fake-services.ts';

/** A run view as the API would answer it; one pending approval per tool named. */
export function fakeView(status: RunView['status'], tools: readonly string[] = [], over: Partial<Run> = {}): RunView {
  const run = fakeRun(1, { status, ...over });
  return runView(run, tools.length === 0 ? [] : approvalViews(fakeSuspension(run, tools), NOW), fakeCost(run));
}

export interface FakeClient extends ApiClient {
  readonly decided: ({ approvalId: string } & Decision)[];
  readonly asked: number[];
}

/** Plays pages of events in turn (the last one again and again); `run` is what the run stands at. */
export function fakeClient(script: {
  pages?: readonly Partial<EventList>[];
  run: () => RunView;
  decide?: (approvalId: string) => void;
  approvalStatus?: () => 'pending' | 'approved';
  nonTtyPending?: boolean | undefined;
}): FakeClient {
  const { pages = [] } = script;
  const decided: FakeClient['decided'] = [];
  const asked: number[] = [];
  const unused = (): never => {
    throw new HandrailError('INTERNAL', 'not part of this test');
  };
  const approvalOf = (approvalId: string) => {
    const found = script.run().approvals.find((approval) => approval.approvalId === approvalId);
    if (!found) throw new HandrailError('NOT_FOUND', approvalId);
    return found;
  };
  return {
    url: 'http://127.0.0.1:1',
    decided,
    asked,
    async listEvents(_runId, after) {
      const page = pages[Math.min(asked.length, pages.length - 1)] ?? {};
      asked.push(after);
      const { runId, sessionId, status } = script.run();
      return { runId, sessionId, status, events: [], next: after, more: false, ...page };
    },
    getRun: async () => script.run(),
    async getApproval(approvalId) {
      return { ...approvalOf(approvalId), status: script.approvalStatus?.() ?? 'pending' };
    },
    async decide(approvalId, decision) {
      const approval = approvalOf(approvalId);
      script.decide?.(approvalId);
      decided.push({ approvalId, ...decision });
      return approval;
    },
    startRun: unused,
    listRuns: unused,
    cancelRun: unused,
    exportRun: unused,
    getSession: unused,
    deleteSession: unused,
    listFiles: unused,
    readFile: unused,
    writeFile: unused,
    listApprovals: unused,
    getPolicy: async (scope) => ({ scope, version: 0, guard: {}, deployed: {}, warnings: [], nonTtyPending: script.nonTtyPending }),
    putPolicy: unused,
    listPolicyHistory: unused,
    listTools: unused,
    health: unused,
  };
}

export function shownEvent(step: number, n: number, type: string, data: ShownEvent['data'] = {}): ShownEvent {
  return { type, data, at: NOW, step, key: `EVT#${String(step).padStart(6, '0')}#0#${String(n).padStart(4, '0')}` };
}
