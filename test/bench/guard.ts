import { preflight } from '../../lib/core/guard/preflight.ts';
import { appConstraints, preflightCall, preflightInput } from '../support/guard.ts';
import { benchModel, median, round, withRuntime } from './bench-runtime.ts';

const ROUNDS = 300;

/** CPU ms of the guard's verdict on a batch of ten calls under rules, a limit and a budget (target: under 2). */
export async function measureGuard(): Promise<{ readonly preflight10Ms: number }> {
  const calls = Array.from({ length: 10 }, (_, index) => preflightCall(index, index % 2 === 0 ? 'read_file' : 'web_fetch'));
  const guard = {
    tool_policy: { 'web_*': 'confirm', read_file: 'allow', 'execute_*': 'deny' },
    max_tool_calls: 100,
    budget: { total_tokens: 1_000_000 },
  } as const;
  const input = preflightInput(calls, { constraints: appConstraints(guard) });
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const began = performance.now();
    await preflight(input);
    times.push(performance.now() - began);
  }
  return { preflight10Ms: round(median(times), 3) };
}

/** ms from a person's click to the LLM call that it leads to, over HTTP on the embedded engine; the tool's own time is in it. */
export async function measureApproval(): Promise<{ readonly clickToModelMs: number }> {
  const asked: number[] = [];
  const times: number[] = [];
  const model = benchModel([['memory_read', { key: 'nothing' }]], 1, () => asked.push(performance.now()));
  const config = { constraints: { guard: { tool_policy: { memory_read: 'confirm' } } } } as const;
  await withRuntime({ model, config }, async (api) => {
    for (let run = 0; run < 7; run++) {
      const runId = await api.start(`measure ${run}`);
      const [approval] = await api.approvals(runId, 1);
      const clicked = performance.now();
      await api.call('POST', `/approvals/${approval.approvalId}`, { decision: 'approve' });
      await api.ended(runId);
      times.push((asked.at(-1) ?? clicked) - clicked);
    }
  });
  return { clickToModelMs: round(median(times)) };
}
