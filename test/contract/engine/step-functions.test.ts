import { SFNClient } from '@aws-sdk/client-sfn';
import { afterEach, describe, expect, it } from 'vitest';
import { StepFunctionsEngine } from '../../../lib/adapters/engine/step-functions.ts';
import { type SfnAnswer, type SfnServer, sfnServer } from '../../support/sfn-server.ts';

const MACHINE = 'arn:aws-cn:states:cn-north-1:123456789012:stateMachine:handrail';
const EXECUTION = 'arn:aws-cn:states:cn-north-1:123456789012:execution:handrail:r-1-2';
const started: SfnAnswer = { body: { executionArn: EXECUTION, startDate: 1_700_000_000 } };

let server: SfnServer;
let client: SFNClient;

async function engine(...answers: [SfnAnswer, ...SfnAnswer[]]): Promise<StepFunctionsEngine> {
  server = await sfnServer((_request, count) => answers[Math.min(count, answers.length) - 1] ?? answers[0]);
  client = new SFNClient({
    region: 'cn-north-1',
    endpoint: server.endpoint,
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    maxAttempts: 2,
  });
  return new StepFunctionsEngine(client, MACHINE);
}

afterEach(async () => {
  client.destroy();
  await server.close();
});

describe('start', () => {
  it('starts an execution of the machine under the given name', async () => {
    const sfn = await engine(started);
    expect(await sfn.start('r-1-2', { ctx: { step: 0 } })).toBe('started');
    expect(server.requests).toEqual([
      { operation: 'StartExecution', body: { stateMachineArn: MACHINE, name: 'r-1-2', input: '{"ctx":{"step":0}}' } },
    ]);
  });

  it('hands on the trace that the invocation belongs to, so that the execution is part of it', async () => {
    const header = 'Root=1-67891233-abcdef012345678912345678;Parent=53995c3f42cd8ad8;Sampled=1';
    await engine(started);
    let trace: string | undefined = header;
    const sfn = new StepFunctionsEngine(client, MACHINE, () => trace);
    await sfn.start('r-1-2', {});
    for (trace of [undefined, '', 'x'.repeat(257)]) await sfn.start('r-1-3', {});
    expect(server.requests.map(({ body }) => body['traceHeader'])).toEqual([header, undefined, undefined, undefined]);
  });

  it('answers exists for a name that was used', async () => {
    const sfn = await engine({ error: 'ExecutionAlreadyExists' });
    expect(await sfn.start('r-1-2', {})).toBe('exists');
  });

  it('reads error names with a namespace, as some endpoints write them', async () => {
    const sfn = await engine({ error: 'com.amazonaws.swf.service.v2.model#ExecutionAlreadyExists' });
    expect(await sfn.start('r-1-2', {})).toBe('exists');
  });

  it('throws what it cannot answer for', async () => {
    const sfn = await engine({ error: 'StateMachineDoesNotExist' });
    await expect(sfn.start('r-1-2', {})).rejects.toMatchObject({ name: 'StateMachineDoesNotExist' });
  });

  it('tries again when it is throttled', async () => {
    const sfn = await engine({ error: 'ThrottlingException' }, started);
    expect(await sfn.start('r-1-2', {})).toBe('started');
    expect(server.requests).toHaveLength(2);
  });
});

describe('sendTaskSuccess', () => {
  it('delivers an answer as JSON text', async () => {
    const sfn = await engine({ body: {} });
    expect(await sfn.sendTaskSuccess('token', { suspensionId: 's' })).toBe('delivered');
    expect(server.requests).toEqual([{ operation: 'SendTaskSuccess', body: { taskToken: 'token', output: '{"suspensionId":"s"}' } }]);
  });

  it.each(['TaskTimedOut', 'TaskDoesNotExist', 'InvalidToken'])(
    'answers gone for %s: a second click is no failure (R31)',
    async (error) => {
      const sfn = await engine({ error });
      expect(await sfn.sendTaskSuccess('token', {})).toBe('gone');
    },
  );

  it('throws when the service refuses for another reason', async () => {
    const sfn = await engine({ error: 'AccessDeniedException' });
    await expect(sfn.sendTaskSuccess('token', {})).rejects.toMatchObject({ name: 'AccessDeniedException' });
  });
});

describe('status', () => {
  it.each([
    ['RUNNING', 'running'],
    ['SUCCEEDED', 'closed'],
    ['FAILED', 'closed'],
    ['TIMED_OUT', 'closed'],
    ['ABORTED', 'closed'],
  ])('%s is %s', async (status, expected) => {
    const sfn = await engine({ body: { executionArn: EXECUTION, stateMachineArn: MACHINE, startDate: 1_700_000_000, status } });
    expect(await sfn.status('r-1-2')).toBe(expected);
    expect(server.requests[0]).toMatchObject({ operation: 'DescribeExecution', body: { executionArn: EXECUTION } });
  });

  it('answers absent for an execution that never was', async () => {
    const sfn = await engine({ error: 'ExecutionDoesNotExist' });
    expect(await sfn.status('r-1-2')).toBe('absent');
  });
});
