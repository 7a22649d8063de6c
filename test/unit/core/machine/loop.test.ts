import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { isJsonObject, type Json, type JsonObject } from '../../../../lib/core/json.ts';
import { SUSPEND_TIMEOUT_SECONDS } from '../../../../lib/core/limits.ts';
import { type LoopOptions, loopDefinition, STATES } from '../../../../lib/core/machine/loop.ts';

// CommonJS without a usable type. It writes defaults into what it validates, hence the copy below.
const validate = createRequire(import.meta.url)('asl-validator') as (
  definition: JsonObject,
  options: JsonObject,
) => { isValid: boolean; errorsText(): string };

const options: LoopOptions = {
  reasonFunction: 'arn:aws:lambda:eu-west-1:123456789012:function:handrail-reason',
  suspendFunction: 'arn:aws:lambda:eu-west-1:123456789012:function:handrail-suspend',
  functionTimeouts: { reason: 300, tool: 130 },
};
const definition = loopDefinition(options);

interface Placed {
  readonly name: string;
  readonly state: JsonObject;
  readonly insideMap: boolean;
}

function statesOf(machine: JsonObject, insideMap = false): Placed[] {
  return Object.entries(machine['States'] as { [name: string]: JsonObject }).flatMap(([name, state]) => [
    { name, state, insideMap },
    ...(isJsonObject(state['ItemProcessor']) ? statesOf(state['ItemProcessor'], true) : []),
  ]);
}

/** Every key and every string below a value. */
function texts(value: Json | undefined): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(texts);
  return Object.entries(value).flatMap(([key, item]) => [key, ...texts(item)]);
}

const placed = statesOf(definition);
const state = (name: string): JsonObject => placed.find((one) => one.name === name)?.state ?? {};
const tasks = placed.filter((one) => one.state['Type'] === 'Task');
const retrier = (errors: string[], attempts: number): JsonObject => ({
  ErrorEquals: errors,
  IntervalSeconds: 1,
  BackoffRate: 2,
  MaxDelaySeconds: 10,
  JitterStrategy: 'FULL',
  MaxAttempts: attempts,
});

describe('the state machine', () => {
  it('is valid Amazon States Language', () => {
    const verdict = validate(structuredClone(definition), { checkArn: true, checkPaths: true });
    expect(verdict.isValid ? '' : verdict.errorsText()).toBe('');
  });

  it('is plain data: it survives JSON unchanged', () => {
    expect(JSON.parse(JSON.stringify(definition))).toEqual(definition);
  });

  it('has the states of the design, each name once over all levels', () => {
    const names = placed.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names.toSorted()).toEqual(Object.values(STATES).toSorted());
    expect(placed.filter(({ insideMap }) => insideMap).map(({ name }) => name)).toEqual(['Invoke', 'Exhausted', 'Crashed']);
  });

  it.each([
    'QueryLanguage',
    'Assign',
    'Arguments',
    'Output',
    'TimeoutSecondsPath',
    'HeartbeatSecondsPath',
    'MaxConcurrencyPath',
    'Iterator',
  ])('uses no %s', (field) => expect(texts(definition)).not.toContain(field));

  it('uses no JSONata, variables, intrinsic functions or retry counts', () => {
    for (const text of texts(definition)) expect(text).not.toMatch(/\{%|^\$[A-Za-z]|^States\.[A-Z]\w*\(|State\.RetryCount/);
  });

  it('reads the context object in no ResultSelector, and nowhere inside the Map', () => {
    for (const { state, insideMap } of placed) {
      expect(texts(state['ResultSelector']).filter((text) => text.startsWith('$$'))).toEqual([]);
      if (insideMap) expect(texts(state).filter((text) => text.startsWith('$$'))).toEqual([]);
    }
  });

  it('gives every Task a timeout that a timer can hold, callbacks included (R33)', () => {
    expect(tasks.map(({ name }) => name)).toEqual(['Reason', 'Invoke', 'Suspend', 'Continue']);
    for (const task of tasks) {
      expect(task.state['TimeoutSeconds']).toBeGreaterThan(0);
      expect(task.state['TimeoutSeconds']).toBeLessThanOrEqual(2_147_483);
    }
    expect(state('Suspend')['TimeoutSeconds']).toBe(SUSPEND_TIMEOUT_SECONDS);
  });

  it('outlives the functions it invokes', () => {
    expect(state('Reason')['TimeoutSeconds']).toBeGreaterThan(options.functionTimeouts.reason);
    expect(state('Invoke')['TimeoutSeconds']).toBeGreaterThan(options.functionTimeouts.tool);
  });

  it.each([
    [{ functionTimeouts: { reason: 0.5, tool: 1 } }, 'reason'],
    [{ functionTimeouts: { reason: 1, tool: 3_000_000 } }, 'tool'],
    [{ suspendSeconds: 0 }, 'suspend'],
  ])('refuses timeouts that no engine can keep: %j', (change, field) => {
    expect(() => loopDefinition({ ...options, ...change })).toThrow(expect.objectContaining({ code: 'BAD_REQUEST', field }));
  });

  it('writes the integrations in the partition it is given', () => {
    const resources = statesOf(loopDefinition({ ...options, partition: 'aws-cn' })).flatMap((one) => one.state['Resource'] ?? []);
    expect(new Set(resources)).toEqual(
      new Set([
        'arn:aws-cn:states:::lambda:invoke',
        'arn:aws-cn:states:::lambda:invoke.waitForTaskToken',
        'arn:aws-cn:states:::states:startExecution',
      ]),
    );
  });
});

describe('what each state does', () => {
  it('Reason gets the whole state data and the execution; its answer is all that goes on', () => {
    expect(state('Reason')).toEqual({
      Type: 'Task',
      Resource: 'arn:aws:states:::lambda:invoke',
      Parameters: { FunctionName: options.reasonFunction, Payload: { 'data.$': '$', 'execution.$': '$$.Execution.Name' } },
      ResultSelector: { 's.$': '$.Payload' },
      OutputPath: '$.s',
      TimeoutSeconds: 310,
      Retry: [retrier(['States.ALL'], 3)],
      Next: 'Route',
    });
  });

  it('Route leads each plan to its state', () => {
    const choices = state('Route')['Choices'] as { Variable: string; StringEquals: string; Next: string }[];
    expect(Object.fromEntries(choices.map((choice) => [choice.StringEquals, choice.Next]))).toEqual({
      reason: 'Reason',
      act: 'Act',
      suspend: 'Suspend',
      wait: 'Wait',
      continue: 'Continue',
      finish: 'Finish',
    });
    expect(new Set(choices.map((choice) => choice.Variable))).toEqual(new Set(['$.next']));
  });

  it('Act puts results in the place of arguments, ten at a time', () => {
    expect(state('Act')).toMatchObject({ Type: 'Map', ItemsPath: '$.calls', ResultPath: '$.calls', MaxConcurrency: 10, Next: 'Reason' });
    expect(state('Act')['ItemProcessor']).toMatchObject({ ProcessorConfig: { Mode: 'INLINE' }, StartAt: 'Invoke' });
  });

  it('Invoke repeats only what never ran or asked for it, and catches everything', () => {
    expect(state('Invoke')).toMatchObject({
      Parameters: { 'FunctionName.$': '$.functionName', 'Payload.$': '$' },
      ResultSelector: { 'r.$': '$.Payload' },
      OutputPath: '$.r',
    });
    expect(state('Invoke')['Retry']).toEqual([
      retrier(['Lambda.TooManyRequestsException'], 5),
      ...[1, 2, 3, 5].map((n) => retrier([`RETRY_${n}`], n)),
    ]);
    expect(state('Invoke')['Catch']).toEqual([
      { ErrorEquals: ['RETRY_1', 'RETRY_2', 'RETRY_3', 'RETRY_5'], ResultPath: '$.error', Next: 'Exhausted' },
      { ErrorEquals: ['States.ALL'], ResultPath: '$.error', Next: 'Crashed' },
    ]);
    expect(state('Exhausted')).toEqual({ Type: 'Pass', Parameters: { 'callId.$': '$.callId', 'error.$': '$.error' }, End: true });
    expect(state('Crashed')).toEqual({
      Type: 'Pass',
      Parameters: { 'callId.$': '$.callId', error: { 'Error.$': '$.error.Error' } },
      End: true,
    });
  });

  it('Suspend waits for its token; only its backstop is caught, and never repeated', () => {
    expect(state('Suspend')).toEqual({
      Type: 'Task',
      Resource: 'arn:aws:states:::lambda:invoke.waitForTaskToken',
      Parameters: {
        FunctionName: options.suspendFunction,
        Payload: { 'ctx.$': '$.ctx', 'token.$': '$$.Task.Token', 'execution.$': '$$.Execution.Name' },
      },
      ResultPath: '$.woke',
      TimeoutSeconds: SUSPEND_TIMEOUT_SECONDS,
      Retry: [{ ErrorEquals: ['States.Timeout'], MaxAttempts: 0 }, retrier(['States.ALL'], 3)],
      Catch: [{ ErrorEquals: ['States.Timeout'], ResultPath: '$.woke', Next: 'Reason' }],
      Next: 'Reason',
    });
  });

  it('Wait and Finish pass on what is needed and no more', () => {
    expect(state('Wait')).toEqual({ Type: 'Wait', SecondsPath: '$.seconds', Next: 'Reason' });
    expect(state('Finish')).toEqual({ Type: 'Succeed', OutputPath: '$.ctx' });
  });

  it('Continue starts the next execution of this machine once, and finishes', () => {
    const both = ['StepFunctions.ExecutionAlreadyExistsException', 'StepFunctions.ExecutionAlreadyExists'];
    expect(state('Continue')).toMatchObject({
      Resource: 'arn:aws:states:::states:startExecution',
      Parameters: { 'StateMachineArn.$': '$$.StateMachine.Id', 'Name.$': '$.name', Input: { 'ctx.$': '$.ctx' } },
      ResultPath: null,
      Retry: [{ ErrorEquals: both, MaxAttempts: 0 }, retrier(['States.ALL'], 3)],
      Catch: [{ ErrorEquals: both, ResultPath: null, Next: 'Finish' }],
      Next: 'Finish',
    });
  });
});
