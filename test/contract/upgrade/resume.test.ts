import { readdirSync, readFileSync } from 'node:fs';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { configSchema } from '../../../lib/core/config.ts';
import { decide } from '../../../lib/core/guard/approvals/decide.ts';
import { pendingCalls } from '../../../lib/core/guard/approvals/suspension.ts';
import { approvalIdOf, executionName } from '../../../lib/core/ids.ts';
import { createTools } from '../../../lib/core/loop/built-in.ts';
import { builtIns } from '../../../lib/core/loop/built-ins/index.ts';
import { deleteSession } from '../../../lib/core/loop/delete-session.ts';
import type { LoopDeps } from '../../../lib/core/loop/deps.ts';
import { exportRun } from '../../../lib/core/loop/export-run.ts';
import type { ReasonOutput } from '../../../lib/core/loop/plan.ts';
import { reason } from '../../../lib/core/loop/reason.ts';
import type { Run } from '../../../lib/core/loop/run.ts';
import { silentLogger } from '../../../lib/core/ports/logger.ts';
import type { ModelRequest } from '../../../lib/core/ports/model.ts';
import { configuredCategories } from '../../../lib/tools/index.ts';
import { startTestStores, type TestStores } from '../../support/dynalite.ts';
import { seededRandom, TestClock } from '../../support/time.ts';

/**
 * All items of a run that waited for a person when an earlier version of the product was replaced: two calls, of which
 * `write_file` was to be confirmed. Made by that version; files are added when a shape changes, never edited.
 */
const directory = new URL('../../fixtures/waiting/', import.meta.url);

let stores: TestStores;
beforeEach(async () => {
  stores = await startTestStores();
});
afterEach(() => stores.close());

async function given(file: string) {
  const { runId, items } = JSON.parse(readFileSync(new URL(file, directory), 'utf8'));
  for (const { table, item } of items) await stores.deps.client.send(new PutCommand({ TableName: table, Item: item }));
  const run = await stores.runs.getRun({ tenant: 'local', runId });
  if (!run) throw new Error(`${file} has no run`);
  const config = configSchema.parse({ constraints: { guard: { tool_policy: { write_file: 'confirm' } } } });
  const [answered, prompts]: [string[], ModelRequest[]] = [[], []];
  const usage = { promptTokens: 1, completionTokens: 1, totalTokens: 2 };
  const deps: LoopDeps = {
    runs: stores.runs,
    guard: stores.guard,
    clock: new TestClock(run.updatedAt + 60_000),
    random: seededRandom(7),
    logger: silentLogger,
    config,
    engine: {
      start: async () => 'started',
      sendTaskSuccess: async (token) => {
        answered.push(token);
        return 'delivered';
      },
      status: async () => 'running',
    },
    ...createTools(configuredCategories(config), builtIns, config.security),
    model: async () => ({
      id: 'test/model',
      async generate(request) {
        prompts.push(request);
        return { text: 'written', calls: [], usage, finish: 'stop' };
      },
    }),
    functionName: (category) => category,
  };
  return { deps, run, answered, prompts };
}

/** Plays the execution that the earlier version started, from Suspend on, as the old definition would. */
async function playOn(deps: LoopDeps, run: Run): Promise<string[]> {
  const execution = executionName(run.runId, run.execution);
  const done: string[] = [];
  let data: object = { ctx: { tenant: run.tenant, runId: run.runId, step: run.step }, woke: {} };
  for (;;) {
    const output: ReasonOutput = await reason(deps, { data, execution });
    if (output.next !== 'act') {
      expect(output.next).toBe('finish');
      return done;
    }
    const calls = (output.calls ?? []).map(({ callId, tool }) => {
      done.push(tool);
      return { callId, result: { success: true, data: 'ok', metadata: { toolName: tool, duration: 1, truncated: false, timestamp: 1 } } };
    });
    data = { ctx: output.ctx, calls };
  }
}

async function decideAll(deps: LoopDeps, run: Run, decision: 'approve' | 'reject'): Promise<void> {
  if (run.plan?.next !== 'suspend') throw new Error('it does not wait');
  const suspension = await deps.guard.getSuspension(run.plan.suspensionId);
  const decisions = pendingCalls(suspension ?? expect.fail('no suspension')).map((callId) => ({
    approvalId: approvalIdOf(suspension?.suspensionId ?? '', callId),
    decision,
  }));
  await decide(deps, { tenant: run.tenant, principal: 'bob', how: 'api', decisions });
}

describe.each(readdirSync(directory))('a run that waited through an upgrade (%s)', (file) => {
  it('is approved, carries out what was approved, and ends', async () => {
    const { deps, run, answered, prompts } = await given(file);
    await decideAll(deps, run, 'approve');
    expect(answered).toHaveLength(1);
    expect(await playOn(deps, run)).toEqual(['list_directory', 'write_file']);
    const ended = await deps.runs.getRun(run);
    expect(ended).toMatchObject({ status: 'succeeded', answer: 'written' });
    expect(prompts[0]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
    expect((await deps.guard.getPermits()).leases).toEqual([]);
  });

  it('is rejected: what was to be confirmed does not run, and the agent is told', async () => {
    const { deps, run, prompts } = await given(file);
    await decideAll(deps, run, 'reject');
    expect(await playOn(deps, run)).toEqual(['list_directory']);
    expect(JSON.stringify(prompts[0]?.messages.at(-1))).toContain('APPROVAL_REJECTED');
  });

  it('can be exported, and its session deleted once it has ended', async () => {
    const { deps, run } = await given(file);
    const { messages, suspensions } = await exportRun(deps, run);
    expect(messages.map(({ message }) => message.role)).toEqual(['user', 'assistant']);
    expect(suspensions).toHaveLength(1);
    const remove = () => deleteSession({ ...deps, files: { erase: async () => true } }, run);
    await expect(remove()).rejects.toMatchObject({ code: 'SESSION_BUSY' });
    await decideAll(deps, run, 'approve');
    await playOn(deps, run);
    await remove();
    expect(await deps.runs.getRun(run)).toBeUndefined();
    expect(await deps.runs.getSession(run)).toBeUndefined();
    expect(await deps.runs.listCommits(run, run.runSeq)).toEqual([]);
  });
});
