import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseConfig } from '../../lib/runtime/config.ts';
import { type LocalRuntime, startLocal } from '../../lib/runtime/local.ts';
import { chooseLocalModel } from '../../lib/runtime/local-model.ts';
import { apiClient } from './api-client.ts';
import { localOptions } from './embedded-runner.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

describe('the demo of a fresh clone', () => {
  let directory: string;
  let runtime: LocalRuntime;
  let api: ReturnType<typeof apiClient>;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'handrail-demo-'));
    const config = parseConfig(await readFile(join(ROOT, 'handrail.config.yaml'), 'utf8'), 'handrail.config.yaml');
    const choice = await chooseLocalModel(config, { HANDRAIL_MODEL: 'demo' });
    runtime = await startLocal({ ...(await localOptions(directory)), config, configDirectory: ROOT, choice });
    api = apiClient({ url: runtime.url, authorization: `Bearer ${runtime.secret}` });
  });
  afterAll(async () => {
    await runtime.close();
    await rm(directory, { recursive: true, force: true });
  });

  it('adds up sales with real tools and writes the report once a person says so', async () => {
    const runId = await api.start('Add up our sales and write a report');
    const [approval] = await api.approvals(runId, 1);
    expect(approval).toMatchObject({
      tool: 'write_file',
      arguments: { path: 'report.md', content: expect.stringContaining('**Total: 5,697.50**') },
    });
    await api.call('POST', `/approvals/${approval.approvalId}`, { decision: 'approve' });
    expect(await api.ended(runId)).toMatchObject({ status: 'succeeded', effects: { 'fs.write': 1, 'code.exec': 1 } });
  });

  it('runs the release check, a tree skill that a person approves in the middle', async () => {
    const runId = await api.start('Check the release 1.1.0');
    const [approval] = await api.approvals(runId, 1);
    expect(approval).toMatchObject({ kind: 'node', arguments: { title: 'Publish release 1.1.0?' } });
    await api.call('POST', `/approvals/${approval.approvalId}`, { decision: 'approve' });
    const run = await api.ended(runId);
    expect(run).toMatchObject({ status: 'succeeded', effects: { 'fs.write': 1 } });
    expect(run.answer).toMatch(/"published": true[\s\S]*releases\/1\.1\.0\.md/);
    // A model says what it read, and not the marks around it.
    expect(run.answer).not.toContain('outside-content');
  });
});
