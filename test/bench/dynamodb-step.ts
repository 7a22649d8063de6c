/**
 * What a typical step of the loop costs at the table: requests, bytes sent, capacity units, milliseconds.
 * `node test/bench/dynamodb-step.ts [steps]` prints one JSON line for a database in memory and two for one on disk.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PlacedEvent } from '../../lib/core/loop/event.ts';
import { eventKey } from '../../lib/core/loop/event.ts';
import {
  assistantMessage,
  mainFrame,
  newRun,
  newTenant,
  nextStep,
  observation,
  prefixOf,
  userMessage,
  writeOf,
} from '../contract/stores/samples.ts';
import { startTestStores, type TestStores } from '../support/dynalite.ts';

const steps = Number(process.argv[2] ?? 100);
const OBSERVATION_BYTES = 2_000;

const directory = await mkdtemp(join(tmpdir(), 'handrail-bench-'));
await measure('memory', {});
await measure('disk, unix socket', { path: join(directory, 'database'), socketPath: join(directory, 'dynamodb.sock') });
await measure('disk, no HTTP', { path: join(directory, 'database'), socketPath: join(directory, 'dynamodb.sock'), way: 'direct' });
await rm(directory, { recursive: true });

async function measure(database: string, options: Parameters<typeof startTestStores>[0]): Promise<void> {
  const stores = await startTestStores(options);
  const times = await playRun(stores);
  // The first steps pay for connections and compilation.
  const [first, rest] = [stores.requests.slice(0, stores.requests.length / 2), stores.requests.slice(stores.requests.length / 2)];
  const counted = steps / 2;
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  const sorted = times.slice(steps / 2).sort((a, b) => a - b);
  const result = {
    database,
    steps,
    requestsPerStep: (first.length + rest.length) / steps,
    bytesSentPerStep: Math.round(sum(rest.map(({ bytesSent }) => bytesSent)) / counted),
    capacityUnitsPerStep: Math.round(sum(rest.map(({ capacityUnits }) => capacityUnits ?? 0)) / counted),
    msPerStepMedian: Number(sorted[Math.floor(sorted.length / 2)]?.toFixed(1)),
    msPerStepWorst: Number(sorted.at(-1)?.toFixed(1)),
  };
  process.stdout.write(`${JSON.stringify(result)}\n`);
  await stores.close();
}

/** Steps with two calls each: read, take permits, write the last events and this step's messages, commit. */
async function playRun({ runs, guard, requests }: TestStores): Promise<number[]> {
  const times: number[] = [];
  let { run } = await runs.createRun(newRun(newTenant()));
  let head = prefixOf(1, 0, 'start');
  await runs.write(run, run.sessionId, [writeOf(head, undefined, userMessage('a question'))], []);
  requests.length = 0;
  for (let step = 1; step <= steps; step++) {
    const began = performance.now();
    const { permits } = await runs.loadStep(run, `${run.runId}-${run.step}`);
    await runs.readTranscript(run, head, 80);
    const callIds = [0, 1].map((n) => `c${step}-${n}`);
    const lease = (callId: string) => ({
      key: `${run.runId}#${callId}#a`,
      run: run.runId,
      levels: ['global', 'category:file', 'tool:read_file'],
      until: step,
    });
    await guard.putPermits({ ver: permits.ver + 1, leases: callIds.map(lease), waiting: [] });
    const prefix = prefixOf(1, step, 'a');
    const results = step === 1 ? [] : [0, 1].map((n) => observation(`c${step - 1}-${n}`, 'x'.repeat(OBSERVATION_BYTES)));
    const events = run.events.map((event, n): PlacedEvent => ({ ...event, step: run.step, key: eventKey(run.step, 'reason', n) }));
    await runs.write(run, run.sessionId, [writeOf(prefix, head, ...results, assistantMessage('Let me read these.', callIds))], events);
    const call = (callId: string) => ({
      callId,
      tool: 'read_file',
      category: 'file',
      state: 'inflight' as const,
      hash: 'h'.repeat(64),
      stage: 0,
      counted: true,
      startedAt: step,
      attempt: 'a',
    });
    const next = nextStep(run, `a${step}`, {
      plan: { next: 'act', calls: [callIds[0] ?? '', callIds[1] ?? ''] },
      frames: [{ ...mainFrame, head: prefix, batch: { runSeq: 1, step, calls: callIds.map(call) } }],
      events: Array.from({ length: 8 }, () => ({
        type: 'guard.decision' as const,
        at: step,
        data: { checker: 'tool_policy', decision: 'ALLOW', reason: 'default_policy: allow', preview: 'x'.repeat(200) },
      })),
    });
    await runs.commit(next, { step: run.step, execution: 1, finish: false });
    [run, head] = [next, prefix];
    times.push(performance.now() - began);
  }
  return times;
}
