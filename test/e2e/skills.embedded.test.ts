import { readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { configSchema } from '../../lib/core/config.ts';
import type { JsonObject } from '../../lib/core/json.ts';
import { silentLogger } from '../../lib/core/ports/logger.ts';
import type { Model, ModelReply, ModelRequest } from '../../lib/core/ports/model.ts';
import { type LocalRuntime, startLocal } from '../../lib/runtime/local.ts';
import { systemClock, systemRandom } from '../../lib/runtime/system.ts';
import { connectToLoopback, httpServer, type LoopbackServer } from '../support/web-server.ts';
import { apiClient } from './api-client.ts';

/** Seed 000, "end to end": from a SKILL.md to the person who is asked. */
const SEED_EXAMPLE = `---
name: seed-example
description: The example of the seed.
constraints:
  guard:
    max_tool_calls: 2
    tool_policy:
      file_write: confirm
  max_iterations: 5
---
Write two files.
`;
/** Without the network, and in a second. */
const HURRIED = `---
name: hurried
description: Works offline, and quickly.
constraints:
  execution: { mode: local, network: none, timeout_s: 1 }
---
Look nothing up.
`;
const SAMPLES = fileURLToPath(new URL('../../skills', import.meta.url));

type Said = string | { calls: readonly (readonly [string, JsonObject])[] };

/** An LLM whose turns follow from the run's input. */
class Script implements Model {
  readonly id = 'test/script';
  readonly prompts: ModelRequest[] = [];
  turns: Readonly<Record<string, (turn: number) => Said>> = {};
  async generate(request: ModelRequest): Promise<ModelReply> {
    this.prompts.push(request);
    const last = request.messages.findLastIndex(({ role }) => role === 'user');
    const asked = request.messages[last];
    const turn = request.messages.slice(last + 1).filter(({ role }) => role === 'assistant').length;
    const said = this.turns[asked?.role === 'user' ? asked.text : '']?.(turn) ?? 'nothing to say';
    const usage = { promptTokens: 10, completionTokens: 5, totalTokens: 15 };
    if (typeof said === 'string') return { text: said, calls: [], usage, finish: 'stop' };
    const calls = said.calls.map(([name, args], index) => ({ id: `p${turn}-${index}`, name, arguments: JSON.stringify(args) }));
    return { text: '', calls, usage, finish: 'tool_calls' };
  }
}

describe('skills on the whole product', () => {
  const model = new Script();
  let directory: string;
  let web: LoopbackServer;
  let runtime: LocalRuntime;
  let api: ReturnType<typeof apiClient>;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'handrail-e2e-skills-'));
    await cp(SAMPLES, join(directory, 'skills'), { recursive: true });
    await mkdir(join(directory, 'skills', 'seed-example'), { recursive: true });
    await writeFile(join(directory, 'skills', 'seed-example', 'SKILL.md'), SEED_EXAMPLE);
    await mkdir(join(directory, 'skills', 'hurried'));
    await writeFile(join(directory, 'skills', 'hurried', 'SKILL.md'), HURRIED);
    // The handler's packages, where a project has them.
    const { symlink } = await import('node:fs/promises');
    await symlink(fileURLToPath(new URL('../../node_modules', import.meta.url)), join(directory, 'node_modules'));
    web = await httpServer((request, response) => {
      if (request.url === '/busy') response.writeHead(503).end();
      else
        response.writeHead(200, { 'content-type': 'text/html' }).end('<title>A page</title><h1>Head</h1><p>Some <a href="/x">text</a></p>');
    });
    runtime = await startLocal({
      directory: join(directory, 'home'),
      port: 0,
      config: configSchema.parse({ constraints: { max_iterations: 8 } }),
      configDirectory: directory,
      choice: { model: { provider: 'scripted', model: 'none', script: 'none' }, because: 'a test', demo: false },
      clock: systemClock,
      random: systemRandom,
      logger: silentLogger,
      environment: {},
      model,
      engine: { waitMs: 50, retryMs: 50 },
      web: { resolve: async () => ['93.184.215.14'], connectTo: connectToLoopback(() => web.port) },
    });
    api = apiClient({ url: runtime.url, authorization: `Bearer ${runtime.secret}` });
  });
  afterAll(async () => {
    await runtime?.close();
    await web?.close();
    await rm(directory, { recursive: true, force: true });
  });

  it("the seed's example (max_tool_calls: 2, file_write: confirm, max_iterations: 5), from SKILL.md to the person", async () => {
    const write = (path: string) => ['write_file', { path, content: 'text' }] as const;
    model.turns = {
      'write two files': (turn) => (turn === 0 ? { calls: [write('a.txt'), write('b.txt'), write('c.txt')] } : 'Two files are written.'),
      'go on for ever': (turn) => ({ calls: [['memory_read', { key: `k${turn}` }]] }),
    };
    const runId = await api.start('write two files', { skills: ['seed-example'] });
    // The third is beyond the limit; of the two that fit a person is asked, since file_write is an alias of write_file.
    const approvals = await api.approvals(runId, 2);
    expect(approvals.map(({ tool, reason }) => [tool, reason])).toEqual(Array(2).fill(['write_file', expect.stringContaining('skill')]));
    const waiting = (await api.call('GET', `/runs/${runId}`)).body;
    expect(waiting).toMatchObject({
      status: 'waiting',
      constraints: {
        max_iterations: 5,
        guard: { max_tool_calls: 2, tool_policy: [expect.objectContaining({ layer: 'skill', rules: { file_write: ['confirm'] } })] },
        origins: { max_iterations: 'skill', 'guard.max_tool_calls': 'skill' },
      },
    });
    for (const { approvalId } of approvals) await api.call('POST', `/approvals/${approvalId}`, { decision: 'approve' });
    expect(await api.ended(runId)).toMatchObject({ status: 'succeeded', effects: { 'fs.write': 2 } });
    const failed = (await api.events(runId)).filter(({ type }) => type === 'tool.call.failed');
    expect(failed.map(({ data }) => [data.callId, data.error.code])).toEqual([['c1-2', 'GUARD_DENIED']]);

    model.prompts.length = 0;
    const endless = await api.ended(await api.start('go on for ever', { skills: ['seed-example'], constraints: { guard: {} } }));
    expect(endless).toMatchObject({ status: 'limited', outcome: 'iteration_limit' });
    expect(model.prompts).toHaveLength(5);
    expect(model.prompts[0]?.system).toContain('Write two files.');
  });

  it("a skill's constraints.execution ends its code sooner and leaves it no network", async () => {
    const endless = { calls: [['execute_javascript', { code: 'for (;;);' }]] } as const;
    model.turns = { 'count for ever': (turn) => (turn === 0 ? endless : 'It took too long.') };
    model.prompts.length = 0;
    const run = await api.ended(await api.start('count for ever', { skills: ['hurried'] }));
    expect(run).toMatchObject({
      status: 'succeeded',
      constraints: {
        execution: { network: false, timeout_s: 1 },
        origins: { 'execution.network': 'skill', 'execution.timeout_s': 'skill' },
      },
    });
    const [failed] = (await api.events(run.runId)).filter(({ type }) => type === 'tool.call.failed');
    // The tool alone has 30 s. Code may have written files before it was stopped, so its outcome is unknown.
    const message = expect.stringMatching(/ within (?:0\.5 s|1000 ms)/);
    expect(failed.data).toMatchObject({ tool: 'execute_javascript', error: { code: 'OUTCOME_UNKNOWN', message } });
    const tools = model.prompts[0]?.tools.map(({ name }) => name) ?? [];
    expect(tools).toContain('execute_javascript');
    expect(tools).not.toEqual(expect.arrayContaining(['web_fetch']));
    expect(tools).not.toEqual(expect.arrayContaining(['web_scraper']));
  });

  it('a handler skill fetches a page in a process of its own, and is tried again where its server was busy', async () => {
    let asked = 0;
    model.turns = {
      'read the page': (turn) => {
        asked = turn;
        if (turn === 0) return { calls: [['web_scraper', { url: 'https://example.com/page' }]] };
        return turn === 1
          ? {
              calls: [
                ['web_scraper', { url: 'https://example.com/busy' }],
                ['web_scraper', { url: 'https://elsewhere.example.org/' }],
              ],
            }
          : 'Read.';
      },
    };
    const run = await api.ended(await api.start('read the page'));
    expect([run.status, asked]).toEqual(['succeeded', 2]);
    const events = await api.events(run.runId);
    const [completed] = events.filter(({ type }) => type === 'tool.call.completed');
    expect(completed.data.result_preview).toMatch(
      /# A page\s+https:\/\/example\.com\/page\s+# Head\s+Some \[text\]\(https:\/\/example\.com\/x\)/,
    );
    const failed = events.filter(({ type }) => type === 'tool.call.failed').map(({ data }) => data.error.code);
    expect(failed.toSorted()).toEqual(['PERMISSION_DENIED', 'RETRY_EXHAUSTED']);
    const told = model.prompts.at(-1)?.messages.findLast(({ role }) => role === 'tool');
    expect(JSON.stringify(told)).toContain('elsewhere.example.org is not among the allowed domains');
  });

  it('a sample prompt skill is listed, loaded with its file, and holds the run to what it says', async () => {
    model.turns = {
      'make a report': (turn) => {
        if (turn === 0) return { calls: [['load_skill', { skill: 'data-report' }]] };
        if (turn === 1) return { calls: [['load_skill', { skill: 'data-report', file: 'references/template.md' }]] };
        return turn === 2 ? { calls: [['write_file', { path: 'report.md', content: 'x' }]] } : 'Done.';
      },
    };
    const runId = await api.start('make a report');
    const [approval] = await api.approvals(runId, 1);
    expect(approval).toMatchObject({ tool: 'write_file' });
    const prompt = model.prompts.at(-1);
    expect(prompt?.system).toContain('- data-report: Turns a CSV or JSON file');
    const told = JSON.stringify(prompt?.messages);
    expect(told).toContain('A report that a reader can act on');
    expect(told).toContain('## Oddities');
    await api.call('POST', `/approvals/${approval.approvalId}`, { decision: 'reject', reason: 'not now' });
    expect((await api.ended(runId)).status).toBe('succeeded');
  });

  it('GET /skills and GET /tools show the samples', async () => {
    const { body } = await api.call('GET', '/skills');
    expect(body.skills.map(({ name, kind }: { name: string; kind: string }) => [name, kind])).toEqual([
      ['data-report', 'prompt'],
      ['hurried', 'prompt'],
      ['release-check', 'tree'],
      ['seed-example', 'prompt'],
      ['web-scraper', 'handler'],
    ]);
    expect(body.reports.every(({ status }: { status: string }) => status === 'accepted')).toBe(true);
    const { body: tools } = await api.call('GET', '/tools');
    expect(tools.tools.find(({ name }: { name: string }) => name === 'web_scraper')).toMatchObject({
      category: 'skill',
      effectTags: ['net.read'],
    });
    expect(readFileSync(join(SAMPLES, 'web-scraper', 'SKILL.md'), 'utf8')).toContain('web_scraper');
  });
});
