import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { HandrailError } from '../../../lib/core/errors.ts';
import { decide } from '../../../lib/core/guard/approvals/decide.ts';
import { suspend } from '../../../lib/core/guard/approvals/suspend.ts';
import { runCall } from '../../../lib/core/hands/lifecycle.ts';
import type { JsonObject } from '../../../lib/core/json.ts';
import { suspendEventSchema } from '../../../lib/core/loop/plan.ts';
import { reason } from '../../../lib/core/loop/reason.ts';
import { startRun } from '../../../lib/core/loop/start.ts';
import { loopDefinition } from '../../../lib/core/machine/loop.ts';
import { silentLogger } from '../../../lib/core/ports/logger.ts';
import { engineLoop } from '../../support/engine-loop.ts';
import { until } from '../../support/engine-rig.ts';
import { LoopRig } from '../../support/loop-rig.ts';

/**
 * Executions keep the definition they began with (docs/operations.md, "Upgrading while runs wait"). Each file holds the
 * definition of a version, and what its machine sent to the functions in one run: every call of a tool, the suspension,
 * every step. Made by that version; a file is added when any of it changes, none is ever edited.
 */
interface Pinned {
  readonly definition: JsonObject;
  readonly calls: readonly JsonObject[];
  readonly suspend: JsonObject;
  readonly reason: readonly JsonObject[];
}
const directory = new URL('../../fixtures/executions/', import.meta.url);
const files = readdirSync(directory).sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
const read = (file: string): Pinned => JSON.parse(readFileSync(new URL(file, directory), 'utf8'));

const reads = { parallelSafe: true, idempotent: true };
/** The run of the fixtures: three calls at once, of which one is retried in vain, then one that a person confirms. */
const newRig = (): LoopRig =>
  new LoopRig({
    turns: [
      {
        text: 'looking',
        calls: [
          ['look', { n: 1 }],
          ['flaky', {}],
          ['crash', {}],
        ],
      },
      {
        calls: [
          ['write', { n: 2 }],
          ['look', { n: 3 }],
        ],
      },
      'done',
    ],
    tools: [
      { definition: { name: 'look', ...reads } },
      {
        definition: { name: 'flaky', ...reads, retry: { maxRetries: 1 } },
        handle: () => {
          throw new HandrailError('SERVICE_UNAVAILABLE', 'not now');
        },
      },
      { definition: { name: 'crash', ...reads, retry: { maxRetries: 0 } } },
      { definition: { name: 'write' } },
    ],
    config: { constraints: { guard: { tool_policy: { write: 'confirm' } } } },
  });
/** The run's id follows from the key, so that what was sent then is about this run. */
const request = { tenant: 't1', principal: 'ann', input: 'go', idempotencyKey: 'pinned' };

async function approve(rig: LoopRig, deps: LoopRig['deps'], runId: string): Promise<void> {
  const decisions = (await rig.pending(runId)).map((approvalId) => ({ approvalId, decision: 'approve' as const }));
  expect(decisions).toHaveLength(1);
  await decide(deps, { tenant: 't1', principal: 'bob', how: 'api', decisions });
}

/** Codes of the observations of the first batch. */
const codesOf = async (rig: LoopRig, runId: string): Promise<(string | undefined)[]> => {
  const observations = (await rig.transcript(await rig.get(runId))).flatMap(({ message }) =>
    message.role === 'observation' ? [message] : [],
  );
  return observations.slice(0, 3).map(({ result }) => result.error?.code);
};

describe.each(files)('an execution of an earlier version (%s)', (file) => {
  const pinned = read(file);

  it('goes to its end by its own definition with the functions of today', async () => {
    const rig = newRig();
    const { deps, engine, events, ended } = engineLoop(rig, pinned.definition);
    const { runId } = await startRun(deps, request);
    const suspended = async () => (await rig.stores.runs.getRun({ tenant: 't1', runId }))?.status === 'waiting';
    await until(() => events.suspend.length > 0);
    await expect.poll(suspended).toBe(true);
    await approve(rig, deps, runId);
    await until(() => ended.size > 0);
    expect([...ended.values()]).toEqual(['SUCCEEDED']);
    expect(await rig.get(runId)).toMatchObject({ status: 'succeeded', answer: 'done' });
    expect(await codesOf(rig, runId)).toEqual([undefined, 'RETRY_EXHAUSTED', undefined]);
    await engine.stop();
  });

  it('has its steps, results and suspension taken by the functions of today', async () => {
    const rig = newRig();
    const { runId } = await startRun(rig.deps, request);
    let answer: unknown;
    for (const event of pinned.reason) {
      answer = await reason(rig.deps, event);
      if ((await rig.get(runId)).plan?.next !== 'suspend') continue;
      expect(await suspend(rig.deps, suspendEventSchema.parse(pinned.suspend))).toMatchObject({ state: 'waiting' });
      await approve(rig, rig.deps, runId);
    }
    expect(answer).toMatchObject({ next: 'finish' });
    expect(await rig.get(runId)).toMatchObject({ status: 'succeeded', answer: 'done' });
    expect(await codesOf(rig, runId)).toEqual([undefined, 'RETRY_EXHAUSTED', 'UNHANDLED']);
  });

  it('has its calls carried out by the tool functions of today', async () => {
    const { handlers, clock } = newRig();
    const deps = { handlers, services: {}, clock, logger: silentLogger, startTimer: () => () => undefined };
    for (const call of pinned.calls) {
      const running = runCall(call, deps);
      if (call['tool'] === 'flaky') await expect(running).rejects.toMatchObject({ name: 'RETRY_1' });
      else expect(await running).toMatchObject({ callId: call['callId'], result: { success: true } });
    }
  });
});

it('the definition of today is pinned: one that is changed gets a file of its own, and the files before stay', () => {
  const arn = (name: string) => `arn:aws:lambda:eu-west-1:123456789012:function:handrail-${name}`;
  const functionTimeouts = { reason: 300, tool: 130 };
  const today = loopDefinition({ reasonFunction: arn('reason'), suspendFunction: arn('suspend'), functionTimeouts });
  expect(read(files.at(-1) ?? '').definition).toEqual(JSON.parse(JSON.stringify(today)));
});
