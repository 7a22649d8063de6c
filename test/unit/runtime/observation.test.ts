import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { createObservation } from '../../../lib/runtime/observation.ts';
import { LoopRig, type RigOptions } from '../../support/loop-rig.ts';

const SECRET = 'the-password-is-swordfish';
const lineSchema = z.looseObject({ message: z.string().optional(), run: z.string().optional(), step: z.int().optional() });

/** A rig whose stores are observed as in Lambda; what it wrote. */
function observedRig(options: RigOptions, text = false): { rig: LoopRig; lines: () => z.infer<typeof lineSchema>[]; raw: string[] } {
  const rig = new LoopRig(options);
  const raw: string[] = [];
  const observation = createObservation({
    deployment: 'ours',
    level: 'info',
    text,
    write: (line) => raw.push(line),
    now: () => rig.clock.now(),
    trace: () => '1-2-3',
  });
  Object.assign(rig.deps, { runs: observation.runs(rig.deps.runs), guard: observation.guard(rig.deps.guard), logger: observation.logger });
  return { rig, raw, lines: () => raw.map((line) => lineSchema.parse(JSON.parse(line))) };
}

/** Sums of a metric by the value that it is split by. */
function sums(lines: readonly z.infer<typeof lineSchema>[], metric: string, dimension: string): Record<string, number> {
  const found: Record<string, number> = {};
  for (const line of lines) {
    if (typeof line[metric] !== 'number') continue;
    const of = String(line[dimension]);
    found[of] = (found[of] ?? 0) + line[metric];
  }
  return found;
}

const talking: RigOptions = {
  turns: [
    {
      calls: [
        ['look', { secret: SECRET }],
        ['nowhere', {}],
      ],
    },
    `the answer: ${SECRET}`,
  ],
  tools: [{ definition: { name: 'look' }, handle: () => `found ${SECRET}` }],
};

describe('what a function tells of a run', () => {
  it('is a line for each event, with run, session, tenant, step and trace', async () => {
    const { rig, lines } = observedRig(talking);
    const { runId, sessionId } = await rig.run(SECRET);
    const events = lines().filter(({ message }) => message !== undefined);
    expect(events.map(({ message }) => message)).toEqual(
      expect.arrayContaining(['run.started', 'tool.call.completed', 'tool.call.failed', 'run.finished', 'run.summary']),
    );
    for (const line of events) expect(line).toMatchObject({ level: 'info', run: runId, session: sessionId, tenant: 't1', trace: '1-2-3' });
    expect(new Set(events.map(({ step }) => step))).toEqual(new Set([1, 2]));
  });

  it('holds no text of a person, the model or a tool, unless that is switched on', async () => {
    const silent = observedRig(talking);
    await silent.rig.run(SECRET);
    expect(silent.raw.filter((line) => line.includes(SECRET))).toEqual([]);
    const open = observedRig(talking, true);
    await open.rig.run(SECRET);
    expect(open.raw.filter((line) => line.includes(SECRET))).not.toEqual([]);
  });

  it('counts each run, model call and tool call once, by outcome and code', async () => {
    const { rig, lines } = observedRig(talking);
    await rig.run();
    expect(sums(lines(), 'Runs', 'Outcome')).toEqual({ completed: 1 });
    expect(sums(lines(), 'ToolCalls', 'Code')).toEqual({ OK: 1, TOOL_NOT_FOUND: 1 });
    expect(sums(lines(), 'Iterations', 'Deployment')).toEqual({ ours: 2 });
  });

  it('counts nothing twice when a step runs twice at once, and nothing for the attempt that lost', async () => {
    const { rig, lines } = observedRig(talking);
    rig.faults = { ...rig.faults, twice: () => true };
    await rig.run();
    expect(sums(lines(), 'Runs', 'Outcome')).toEqual({ completed: 1 });
    expect(sums(lines(), 'Iterations', 'Deployment')).toEqual({ ours: 2 });
  });

  it('counts a request to a person when it is made and when it is decided', async () => {
    const config = { constraints: { guard: { tool_policy: { look: 'confirm' as const } } } };
    const { rig, lines } = observedRig({ turns: [{ calls: [['look', {}]] }, 'ok'], config });
    const { runId } = await rig.run();
    expect(sums(lines(), 'Approvals', 'Status')).toEqual({ pending: 1 });
    const [approvalId = ''] = await rig.pending(runId);
    rig.clock.advance(60_000);
    await rig.decide([{ approvalId, decision: 'approve' }]);
    await rig.settle(runId);
    expect(sums(lines(), 'Approvals', 'Status')).toEqual({ pending: 1, approved: 1 });
    expect(sums(lines(), 'ApprovalDecisionTime', 'Deployment')['ours']).toBeGreaterThanOrEqual(60_000);
    expect(Object.keys(sums(lines(), 'GuardDecisions', 'Decision'))).toEqual(['PENDING', 'ALLOW']);
  });

  it('forgets the run when another invocation begins', () => {
    const raw: string[] = [];
    const { logger, begin } = createObservation({
      deployment: 'ours',
      level: 'info',
      text: false,
      write: (line) => raw.push(line),
      now: () => 0,
      trace: () => undefined,
    });
    begin({ run: 'r-1', tenant: 't1' });
    logger.warn('first');
    begin();
    logger.warn('second');
    expect(raw.map((line) => lineSchema.parse(JSON.parse(line)).run)).toEqual(['r-1', undefined]);
  });
});
