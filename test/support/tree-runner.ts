import * as z from 'zod';
import type { Json } from '../../lib/core/json.ts';
import { jsonSchema } from '../../lib/core/json.ts';
import { type TreeState, treeStateSchema } from '../../lib/core/trees/state.ts';
import { complete, decideApproval, type Tick, tick } from '../../lib/core/trees/tick.ts';
import type { Tree } from '../../lib/core/trees/tree.ts';
import { type Oracle, PERSON_MS, type TreeHistory } from './tree-oracle.ts';

const boardSchema = z.record(z.string(), jsonSchema);

/** Runs a tree as a loop would: between two ticks there is nothing but what was committed, as JSON. */
export function runByTicks(tree: Tree, start: Readonly<Record<string, Json>>, oracle: Oracle): TreeHistory {
  let state: TreeState = {};
  let blackboard: Record<string, Json> = { ...start };
  let now = 0;
  let activeMs = 0;
  const log: string[] = [];
  const asked = new Map<string, number>();
  const finish = (path: string): number => {
    const times = (asked.get(path) ?? 0) + 1;
    asked.set(path, times);
    const { ok, value, ms } = oracle.leaf(path, times);
    const done = complete(tree, state, path, ok ? { status: 'success', value } : { status: 'failure', error: 'no luck' });
    state = done.state;
    if (done.outputKey !== undefined) blackboard = { ...blackboard, [done.outputKey]: value };
    return ms;
  };
  const spend = (ms: number): void => {
    now += ms;
    activeMs += ms;
  };
  for (;;) {
    const { next, ...ticked }: Tick = tick({ tree, state, blackboard, now, activeMs });
    state = treeStateSchema.parse(JSON.parse(JSON.stringify(ticked.state)));
    blackboard = boardSchema.parse(JSON.parse(JSON.stringify(ticked.blackboard)));
    switch (next.kind) {
      case 'done':
        return { log, status: next.status, failedAt: next.error?.path, blackboard };
      case 'tools': {
        const shown = next.calls.map(
          ({ path, tool, input, covered }) => `${path} ${tool} ${JSON.stringify(input)}${covered ? ' covered' : ''}`,
        );
        log.push(`tools ${shown.join(' + ')}`);
        spend(Math.max(...next.calls.map(({ path }) => finish(path))));
        break;
      }
      case 'llm':
      case 'agent':
        log.push(`${next.kind} ${next.path} ${next.kind === 'llm' ? next.prompt : next.task}`);
        spend(finish(next.path));
        break;
      case 'approvals':
        log.push(`approvals ${next.items.map(({ path, phase, attempt }) => `${path} ${phase} ${attempt}`).join(' + ')}`);
        for (const { path, phase, attempt } of next.items)
          state = decideApproval(tree, state, path, phase, oracle.approves(path, phase, attempt) ? 'approved' : 'rejected');
        now += PERSON_MS;
        break;
      case 'wait':
        log.push(`wait ${next.ms}`);
        spend(next.ms);
        break;
    }
  }
}
