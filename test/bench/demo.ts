import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { findServer } from '../../lib/runtime/server-file.ts';
import { apiClient } from '../e2e/api-client.ts';

const MAIN = fileURLToPath(new URL('../../lib/cli/main.ts', import.meta.url));

/** ms from `handrail serve` (what `npm start` runs) to the demo's answer, its approval given at once. */
export async function measureDemo(): Promise<number> {
  const directory = await mkdtemp(join(tmpdir(), 'handrail-demo-'));
  const began = performance.now();
  const child = spawn(process.execPath, [MAIN, 'serve'], {
    cwd: directory,
    stdio: 'ignore',
    env: { ...process.env, HANDRAIL_HOME: directory, HANDRAIL_PORT: '0', HANDRAIL_MODEL: 'demo' },
  });
  try {
    const server = await untilUp(directory, child);
    const api = apiClient({ url: server.url, authorization: `Bearer ${server.secret}` });
    const runId = await api.start('Make the report');
    const pending = await api.until('the approval or the end', async () => {
      const [approval] = (await api.call('GET', '/approvals')).body.approvals;
      return approval ?? ((await api.call('GET', `/runs/${runId}`)).body.endedAt ? {} : undefined);
    });
    if (pending.approvalId) await api.call('POST', `/approvals/${pending.approvalId}`, { decision: 'approve' });
    const run = await api.ended(runId);
    if (run.status !== 'succeeded') throw new Error(`the demo ended as ${run.status}: ${JSON.stringify(run.error)}`);
    return Math.round(performance.now() - began);
  } finally {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await ended;
    await rm(directory, { recursive: true, force: true });
  }
}

async function untilUp(directory: string, child: ChildProcess): Promise<{ url: string; secret: string }> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`);
    const server = await findServer(directory);
    if (server) return server;
    await pause(20);
  }
}
