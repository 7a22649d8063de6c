import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { closeDynamoClient } from '../../../lib/adapters/stores/dynamodb/client.ts';
import type { Run } from '../../../lib/core/loop/run.ts';
import { connectStores, startTestStores, type TestStores } from '../../support/dynalite.ts';
import { type FaultProxy, startFaultProxy } from '../../support/dynamo-fault-proxy.ts';
import { newApproval, newRun, newSession, newSuspension, newTenant, nextStep, prefixOf, userMessage, writeOf } from './samples.ts';

describe('the DynamoDB stores on a bad day', () => {
  let direct: TestStores;
  let proxy: FaultProxy;
  let stores: ReturnType<typeof connectStores>;

  beforeAll(async () => {
    direct = await startTestStores();
    proxy = await startFaultProxy(direct.database);
    stores = connectStores(direct.database, { region: 'local', local: true, endpoint: proxy.endpoint });
  });
  afterEach(() => {
    proxy.fault = undefined;
    proxy.operations.length = 0;
  });
  afterAll(async () => {
    closeDynamoClient(stores.deps.client);
    await proxy.close();
    await direct.close();
  });

  const created = async (): Promise<Run> => (await direct.runs.createRun(newRun(newTenant()))).run;

  /** The first request of the kind reaches the table, but its answer is lost; the client repeats it. */
  function loseFirstAnswer(kind: string): void {
    let lost = false;
    proxy.fault = async (operation, _body, forward) => {
      const reply = await forward();
      if (operation !== kind || lost) return reply;
      lost = true;
      return 'drop';
    };
  }

  it('a commit whose answer was lost is still known as its own', async () => {
    const run = await created();
    loseFirstAnswer('UpdateItem');
    expect(await stores.runs.commit(nextStep(run, 'mine'), { step: 0, execution: 1, finish: false })).toEqual({ committed: true });
    expect(proxy.operations.filter((operation) => operation === 'UpdateItem')).toHaveLength(2);
    expect(await direct.runs.getRun(run)).toMatchObject({ step: 1, attempt: 'mine' });
  });

  it('permits, a policy, a session and a decision whose answer was lost are too', async () => {
    const suspension = newSuspension(newTenant(), [newApproval('c3-0')]);
    await direct.guard.openSuspension(suspension);
    const run = await created();
    loseFirstAnswer('PutItem');
    expect(await stores.guard.putPermits({ ver: 1, leases: [{ key: 'a', run: 'r', levels: ['global'], until: 1 }], waiting: [] })).toBe(
      true,
    );
    loseFirstAnswer('PutItem');
    expect(await stores.guard.putPolicy(run.tenant, { v: 1, version: 1, guard: {}, updatedAt: 1, updatedBy: 'ann' })).toBe(true);
    loseFirstAnswer('PutItem');
    expect(await stores.runs.swapSession(newSession(run), undefined)).toBe(true);
    loseFirstAnswer('UpdateItem');
    const decision = { by: 'ann', at: 5, how: 'api' };
    const outcome = await stores.guard.changeSuspension(suspension.suspensionId, {
      kind: 'decide',
      now: 5,
      decisions: [{ callId: 'c3-0', status: 'approved', decision }],
    });
    expect(outcome).toMatchObject({ applied: true, suspension: { approvals: { 'c3-0': { status: 'approved' } } } });
  });

  it('items the service leaves unprocessed are written after all', async () => {
    const run = await created();
    let partly = 0;
    proxy.fault = async (operation, body, forward) => {
      if (operation !== 'BatchWriteItem' || partly++ >= 3) return forward();
      const [[table, requests]] = Object.entries<unknown[]>(JSON.parse(body).RequestItems) as [[string, unknown[]]];
      await forward(JSON.stringify({ RequestItems: { [table]: requests.slice(0, 2) } }));
      return { status: 200, body: JSON.stringify({ UnprocessedItems: requests.length > 2 ? { [table]: requests.slice(2) } : {} }) };
    };
    const prefix = prefixOf(1, 1, 'a');
    await stores.runs.write(run, 's-1', [writeOf(prefix, undefined, ...Array.from({ length: 10 }, (_, n) => userMessage(`m${n}`)))], []);
    expect(proxy.operations).toEqual(['BatchWriteItem', 'BatchWriteItem', 'BatchWriteItem', 'BatchWriteItem']);
    expect(await direct.runs.readTranscript(run, prefix, 100)).toHaveLength(10);
  });

  it('keys the service leaves unprocessed are read after all', async () => {
    const run = await created();
    const suspension = newSuspension(run.tenant, [newApproval('c3-0')]);
    await direct.guard.openSuspension(suspension);
    let first = true;
    proxy.fault = async (operation, body, forward) => {
      if (operation !== 'BatchGetItem' || !first) return forward();
      first = false;
      const wanted = JSON.parse(body).RequestItems;
      const { guard } = direct.database.tables;
      const { [guard]: left, ...now } = wanted;
      const reply = await forward(JSON.stringify({ RequestItems: now }));
      return { status: 200, body: JSON.stringify({ ...JSON.parse(reply.body), UnprocessedKeys: { [guard]: left } }) };
    };
    const inputs = await stores.runs.loadStep(run, suspension.suspensionId);
    expect(inputs).toMatchObject({ run: { runId: run.runId }, suspension: { suspensionId: suspension.suspensionId } });
  });

  it('the item that a failed condition reports is used, not read again', async () => {
    const run = await created();
    await direct.runs.commit(nextStep(run, 'winner'), { step: 0, execution: 1, finish: false });
    const { Item: item } = JSON.parse(await rawItem(run));
    proxy.fault = async (operation, body, forward) => {
      expect(JSON.parse(body).ReturnValuesOnConditionCheckFailure).toBe('ALL_OLD');
      const reply = await forward();
      return operation === 'UpdateItem' && reply.status === 400
        ? { status: 400, body: JSON.stringify({ ...JSON.parse(reply.body), Item: item }) }
        : reply;
    };
    const outcome = await stores.runs.commit(nextStep(run, 'loser'), { step: 0, execution: 1, finish: false });
    expect(outcome).toMatchObject({ committed: false, run: { step: 1, attempt: 'winner' } });
    expect(proxy.operations).toEqual(['UpdateItem']);
  });

  /** The item's JSON on the wire, as the service would report it. */
  async function rawItem(run: Run): Promise<string> {
    let seen = '';
    proxy.fault = async (_operation, _body, forward) => {
      const reply = await forward();
      seen = reply.body;
      return reply;
    };
    await stores.runs.getRun(run);
    proxy.operations.length = 0;
    return seen;
  }
});
