import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { HandrailError } from '../../../lib/core/errors.ts';
import type { ToolContext } from '../../../lib/core/hands/category.ts';
import { sweep } from '../../../lib/core/loop/sweep.ts';
import type { Logger } from '../../../lib/core/ports/logger.ts';
import { silence } from '../../../lib/runtime/aws-observation.ts';
import { createObservation, type Observation } from '../../../lib/runtime/observation.ts';
import { LoopRig, type RigOptions } from '../../support/loop-rig.ts';

const SECRET = 'the-password-is-swordfish';
const KEY = `sk-${'a1B2'.repeat(6)}`;
const lineSchema = z.looseObject({
  level: z.string().optional(),
  message: z.string().optional(),
  run: z.string().optional(),
  step: z.int().optional(),
});

/** A rig whose stores are observed as in Lambda; what it wrote. */
function observedRig(
  options: RigOptions,
  text = false,
): {
  rig: LoopRig;
  observation: Observation;
  lines: () => z.infer<typeof lineSchema>[];
  raw: string[];
} {
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
  rig.logText = observation.text;
  Object.assign(rig.deps, { runs: observation.runs(rig.deps.runs), guard: observation.guard(rig.deps.guard), logger: observation.logger });
  return { rig, observation, raw, lines: () => raw.map((line) => lineSchema.parse(JSON.parse(line))) };
}

/** An observation without a run; what it wrote. */
function alone(text = false) {
  const raw: string[] = [];
  const write = (line: string) => raw.push(line);
  const observation = createObservation({ deployment: 'ours', level: 'info', text, write, now: () => 0, trace: () => undefined });
  return { ...observation, raw, lines: () => raw.map((line) => lineSchema.parse(JSON.parse(line))) };
}

function raise(thrown: unknown): never {
  throw thrown;
}

function write(logger: Logger): string {
  logger.info(`about ${SECRET}`, { url: SECRET });
  logger.error('failed', new Error(SECRET), { [SECRET]: 1 });
  return 'done';
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

  it.each<[string, (context: ToolContext) => string]>([
    ['throws an error', () => raise(new Error(`cannot parse ${SECRET}`))],
    ['throws an error of several lines', () => raise(new Error(`cannot parse\n    at ${SECRET} (x.js:1:1)`))],
    ['throws one of another kind', () => raise(new TypeError(SECRET))],
    ['throws one of ours', () => raise(new HandrailError('UNHANDLED', SECRET))],
    ['throws one whose name and code are text', () => raise(Object.assign(new Error('x'), { name: `a ${SECRET}`, code: SECRET }))],
    ['throws one with a cause', () => raise(new Error('it failed', { cause: new Error(SECRET) }))],
    ['throws what is no error', () => raise(SECRET)],
    ['reads what is no JSON', () => JSON.parse(SECRET)],
    ['writes lines of its own', ({ logger }) => write(logger)],
  ])('holds no text of a tool that %s', async (_what, handle) => {
    const options: RigOptions = {
      turns: [{ calls: [['look', { secret: SECRET }]] }, 'done'],
      tools: [{ definition: { name: 'look' }, handle: (_args, context) => handle(context) }],
    };
    const silent = observedRig(options);
    await silent.rig.run();
    expect(silent.raw.filter((line) => line.includes('the-pass'))).toEqual([]);
    expect(silent.lines().filter(({ level }) => level === 'error')).toHaveLength(1);
    const open = observedRig(options, true);
    await open.rig.run();
    expect(open.raw.filter((line) => line.includes('the-pass'))).not.toEqual([]);
  });

  it('says where an error was thrown, and what the errors of services say', () => {
    const { logger, lines, raw } = alone();
    logger.error('a', new SyntaxError(`"${SECRET}" is not valid JSON`));
    logger.error('b', Object.assign(new Error('not authorized to perform: dynamodb:PutItem'), { $metadata: {} }));
    logger.error('c', new HandrailError('INTERNAL', 'the plan has no call c1-0', { cause: new Error(SECRET) }));
    expect(raw.join()).not.toContain(SECRET);
    expect(lines()[0]?.['error']).toMatchObject({ name: 'SyntaxError', stack: expect.stringMatching(/^ +at .*observation\.test\.ts/) });
    expect(lines()[1]?.['error']).toMatchObject({ message: 'not authorized to perform: dynamodb:PutItem' });
    expect(lines()[2]?.['error']).toMatchObject({ code: 'INTERNAL', message: 'the plan has no call c1-0', cause: { name: 'Error' } });
  });

  it('never holds what looks like a secret, whatever is switched on', () => {
    const { logger, raw } = alone(true);
    logger.info(`took ${KEY}`, { key: KEY, deep: { password: 'hunter2hunter2' } });
    logger.error('it failed', new Error(`401: ${KEY}`, { cause: new Error(KEY) }));
    expect(raw).toHaveLength(2);
    expect(raw.join()).not.toContain(KEY);
    expect(raw.join()).not.toContain('hunter2');
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

  it('leaves nothing to write to the console, where the runtime of Lambda puts errors with their text', () => {
    const written: unknown[] = [];
    const write = (...said: unknown[]) => void written.push(said);
    const target = { trace: write, debug: write, info: write, log: write, warn: write, error: write };
    silence(target);
    target.error('Invoke Error', SECRET);
    target.log(SECRET);
    expect(written).toEqual([]);
  });

  it('is a line for each decision, once, with who made it and no reason', async () => {
    const config = { constraints: { guard: { tool_policy: { look: 'confirm' as const } } } };
    const calls: [string, Record<string, string>][] = [
      ['look', {}],
      ['look', { at: 'it' }],
    ];
    const { rig, lines, raw } = observedRig({ turns: [{ calls }, 'ok'], config });
    const { runId, sessionId } = await rig.run();
    const [first = '', second = ''] = await rig.pending(runId);
    await rig.decide([{ approvalId: first, decision: 'approve' }]);
    await rig.decide([{ approvalId: second, decision: 'reject', reason: SECRET }]);
    await rig.settle(runId);
    const told = lines().filter(({ message }) => message === 'approval.resolved');
    const about = { run: runId, session: sessionId, tenant: 't1', by: expect.any(String), tool: 'look' };
    expect(told).toMatchObject([
      { ...about, status: 'approved' },
      { ...about, status: 'rejected' },
    ]);
    expect(told).toHaveLength(2);
    expect(raw.filter((line) => line.includes(SECRET))).toEqual([]);
  });

  it('counts a call of which a part failed as such', async () => {
    const parts = [
      { name: 'a.txt', data: 'a' },
      { name: 'b.txt', error: 'there is no such file' },
    ];
    const skillHandlers = new Map([['look', async () => ({ parts })]]);
    const { rig, lines } = observedRig({ turns: [{ calls: [['look', {}]] }, 'ok'], skillHandlers });
    await rig.run();
    expect(sums(lines(), 'ToolCalls', 'Code')).toEqual({ PARTIAL_SUCCESS: 1 });
  });

  it('is told apart where one invocation works on many runs beside each other', async () => {
    const { rig, observation, lines } = observedRig({ turns: ['done'] });
    const [one, two] = [await rig.start('go', { sessionId: 's-1' }), await rig.start('go', { sessionId: 's-2' })];
    const { runs } = rig.deps;
    const getRun: typeof runs.getRun = async (key) => {
      if (key.runId !== two.runId) return runs.getRun(key);
      // It fails when the other one has been settled.
      while ((await rig.get(one.runId)).status === 'running') await Promise.resolve();
      throw new Error('unreadable');
    };
    Object.assign(rig.deps, { runs: { ...runs, getRun } });
    for (const name of rig.executions.keys()) rig.executions.set(name, { at: 'closed', how: 'failed' });
    rig.clock.advance(3_600_000);
    observation.begin({});
    await sweep(rig.deps, { apart: observation.apart });
    const told = lines().filter(({ message }) => message?.startsWith('sweep could not settle') || message === 'run.summary');
    expect(told.map(({ message, run }) => [message, run])).toEqual(
      expect.arrayContaining([
        ['run.summary', one.runId],
        ['sweep could not settle an item; it is tried again later', undefined],
      ]),
    );
    expect(told).toHaveLength(2);
  });

  it('says of a request of the API what it is about, and tells the audit whatever the level is', () => {
    const raw: string[] = [];
    const { logger, begin, about, audit } = createObservation({
      deployment: 'ours',
      level: 'error',
      text: false,
      write: (line) => raw.push(line),
      now: () => 0,
      trace: () => undefined,
    });
    begin({ request: 'abc' });
    about({ route: 'GET /runs/{runId}', tenant: 't1', run: 'r-1' });
    logger.error('request failed', new Error('boom'));
    audit({ tenant: 't1', by: 'bob', action: 'run.cancel', run: 'r-1', session: 's-1' });
    expect(raw.map((line) => JSON.parse(line))).toMatchObject([
      { message: 'request failed', request: 'abc', route: 'GET /runs/{runId}', tenant: 't1', run: 'r-1' },
      {
        level: 'info',
        time: '1970-01-01T00:00:00.000Z',
        message: 'audit',
        request: 'abc',
        action: 'run.cancel',
        by: 'bob',
        session: 's-1',
      },
    ]);
    begin();
    logger.error('another');
    expect(raw.at(-1)).not.toMatch(/abc|r-1/);
  });

  it('forgets the run when another invocation begins', () => {
    const { logger, begin, raw } = alone();
    begin({ run: 'r-1', tenant: 't1' });
    logger.warn('first');
    begin();
    logger.warn('second');
    expect(raw.map((line) => lineSchema.parse(JSON.parse(line)).run)).toEqual(['r-1', undefined]);
  });
});
