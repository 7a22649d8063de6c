import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { apiClient } from './api-client.ts';

const SERVER = fileURLToPath(new URL('../support/e2e-server.ts', import.meta.url));

interface Started {
  readonly child: ChildProcess;
  readonly url: string;
  readonly authorization: string;
}

/** A server in a process of its own, which a test may kill as the power would. */
async function startServer(directory: string): Promise<Started> {
  const child = spawn(process.execPath, [SERVER, directory], { stdio: ['ignore', 'pipe', 'inherit'] });
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout?.once('data', (chunk) => resolve(String(chunk)));
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}`)));
  });
  const { url, secret } = JSON.parse(line) as { url: string; secret: string };
  return { child, url, authorization: `Bearer ${secret}` };
}

async function kill({ child }: Started, signal: NodeJS.Signals): Promise<void> {
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill(signal);
  await ended;
}

describe('a server that is killed and started again', () => {
  let directory: string;
  let server: Started;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'handrail-restart-'));
    server = await startServer(directory);
  });
  afterEach(async () => {
    await kill(server, 'SIGKILL');
    await rm(directory, { recursive: true, force: true });
  });

  it('lets a run that waited for a person be approved and finish', async () => {
    const before = apiClient(server);
    const runId = await before.start('scenario-write');
    const [approval] = await before.approvals(runId, 1);
    await kill(server, 'SIGKILL');
    server = await startServer(directory);
    const api = apiClient(server);
    const answer = await api.call('POST', `/approvals/${approval.approvalId}`, { decision: 'approve' });
    expect(answer.status).toBe(200);
    expect(await api.ended(runId)).toMatchObject({ status: 'succeeded', effects: { 'fs.write': 1 } });
    expect((await api.events(runId)).filter((event) => event.type === 'approval.requested')).toHaveLength(1);
  });

  it('observes a call that was in flight as "outcome unknown" and goes on', async () => {
    const before = apiClient(server);
    const runId = await before.start('scenario-slow');
    await before.until('the call to be in flight', async () =>
      (await before.events(runId)).some((event) => event.type === 'tool.call.started') ? true : undefined,
    );
    await kill(server, 'SIGKILL');
    server = await startServer(directory);
    const api = apiClient(server);
    const run = await api.ended(runId);
    expect(run).toMatchObject({ status: 'succeeded' });
    const failed = (await api.events(runId)).filter((event) => event.type === 'tool.call.failed');
    expect(failed).toMatchObject([{ data: { error: { code: 'OUTCOME_UNKNOWN' } } }]);
  });

  it('stops cleanly when asked and loses nothing', async () => {
    const before = apiClient(server);
    const runId = await before.start('scenario-write');
    const [approval] = await before.approvals(runId, 1);
    await kill(server, 'SIGTERM');
    await expect(readFile(join(directory, 'server.json'))).rejects.toThrow();
    server = await startServer(directory);
    const api = apiClient(server);
    await api.call('POST', `/approvals/${approval.approvalId}`, { decision: 'reject' });
    expect((await api.ended(runId)).answer).toContain('APPROVAL_REJECTED');
  });

  it('refuses a second server on the same directory with the address of the first', async () => {
    const second = spawn(process.execPath, [SERVER, directory], { stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    second.stderr.on('data', (chunk) => {
      said += String(chunk);
    });
    const code = await new Promise((resolve) => second.once('exit', resolve));
    expect(code).not.toBe(0);
    expect(said).toContain(server.url);
  });
});
