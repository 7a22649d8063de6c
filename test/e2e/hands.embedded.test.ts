import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { faultsIn, type ReplayServer, replayServer, resultsIn } from '../support/replay.ts';
import { connectToLoopback, httpServer, type LoopbackServer } from '../support/web-server.ts';

/** Writes, then never ends: what a timeout cannot take back. */
const FORGETFUL = {
  'skills/charge-card/SKILL.md': `---
name: charge-card
description: Charges a card.
parameters:
  amount: { type: number, required: true }
permissions:
  filesystem: { read: ["charges.txt"], write: ["charges.txt"] }
timeout: 1000
---
Call it once.
`,
  'skills/charge-card/handler.js': `export default async ({ amount }, { workspace }) => {
  await workspace.write('charges.txt', new TextEncoder().encode('charged ' + amount + '\\n'), 'append');
  await new Promise((resolve) => setTimeout(resolve, 60_000));
};
`,
};

/** The web that runs see: what a path says, counted. */
interface Web extends LoopbackServer {
  readonly requests: Map<string, number>;
  /** Lets go of everything at /held. */
  release(): void;
}

async function givenWeb(): Promise<Web> {
  const requests = new Map<string, number>();
  const held = Promise.withResolvers<void>();
  const server = await httpServer(async (request, response) => {
    const path = request.url ?? '/';
    const count = (requests.get(path) ?? 0) + 1;
    requests.set(path, count);
    if (path === '/down' || (path === '/flaky' && count < 3)) return void response.writeHead(503).end('overloaded');
    if (path === '/held') await held.promise;
    response.writeHead(200, { 'content-type': 'text/plain' }).end(`page ${path}`);
  });
  return { ...server, requests, release: () => held.resolve() };
}

describe('tools, from the model to the sandbox and back', () => {
  let web: Web;
  let server: ReplayServer;
  beforeAll(async () => {
    web = await givenWeb();
    const resolve = async (): Promise<string[]> => ['93.184.215.14'];
    server = await replayServer({}, { files: FORGETFUL, web: { resolve, connectTo: connectToLoopback(() => web.port) } });
  });
  afterAll(async () => {
    await server?.close();
    await web?.close();
  });
  const fetchOf = (path: string) => ({ calls: [['web_fetch', { url: `http://site.example${path}` }]] as const });

  it('long output is shown in part, kept whole, and read in parts from where the result says; effects are counted', async () => {
    const { runId, prompts } = await server.play([
      { calls: [['execute_python', { code: 'for n in range(20_000): print("line", n)' }]] },
      { calls: [['read_file', { path: '.handrail/output/c1-0', start_line: 12_346, end_line: 12_347 }]] },
      { calls: [['read_file', { path: '.handrail/output/c1-0' }]] },
      'done',
    ]);
    const run = await server.api.ended(runId);
    expect(run).toMatchObject({ status: 'succeeded', effects: { 'code.exec': 1, 'fs.read': 2 } });
    const shown = JSON.parse(
      resultsIn(prompts[1])[0]
        ?.text.replace(/^[^{]*/, '')
        .replace(/[^}]*$/, '') ?? '',
    );
    expect(shown).toMatchObject({
      exitCode: 0,
      whole: '.handrail/output/c1-0',
      stdout: expect.stringMatching(/^line 0\n[\s\S]*line 19999\n$/),
    });
    expect(resultsIn(prompts[2])[0]?.text).toContain('(lines 12346 to 12347 of 20000)\nline 12345\nline 12346');
    expect(resultsIn(prompts[3])[0]?.text).toContain('the whole is in the workspace file ".handrail/output/c1-0"');
  });

  it('a failure that passes is retried until it is over', async () => {
    const { runId, prompts } = await server.play([fetchOf('/flaky'), 'done']);
    expect(await server.api.ended(runId)).toMatchObject({ status: 'succeeded', effects: { 'net.read': 1 } });
    expect(resultsIn(prompts[1])[0]).toMatchObject({ isError: false, text: expect.stringContaining('page /flaky') });
    expect(web.requests.get('/flaky')).toBe(3);
    expect(server.states(runId).filter((state) => state.endsWith('/Invoke')).length).toBeGreaterThanOrEqual(1);
  });

  it('a failure that stays ends as RETRY_EXHAUSTED with the last error, after three attempts', async () => {
    const { runId, prompts } = await server.play([fetchOf('/down'), 'done']);
    expect(await server.api.ended(runId)).toMatchObject({ status: 'succeeded', effects: {} });
    const [result] = resultsIn(prompts[1]);
    expect(result).toMatchObject({
      isError: true,
      text: expect.stringMatching(/RETRY_EXHAUSTED[\s\S]*failed 3 times[\s\S]*SERVICE_UNAVAILABLE/),
    });
    expect(web.requests.get('/down')).toBe(3);
  });

  it('a timeout after a side effect is never repeated: the LLM is told that the outcome is unknown', async () => {
    const { runId, prompts } = await server.play([
      { calls: [['charge_card', { amount: 5 }]] },
      { calls: [['read_file', { path: 'charges.txt' }]] },
      'done',
    ]);
    expect(await server.api.ended(runId)).toMatchObject({ status: 'succeeded' });
    expect(resultsIn(prompts[1])[0]).toMatchObject({ isError: true, text: expect.stringContaining('OUTCOME_UNKNOWN') });
    expect(resultsIn(prompts[2])[0]?.text).toMatch(/charged 5\n*(?!.*charged)/);
    expect(resultsIn(prompts[2])[0]?.text.match(/charged/g)).toHaveLength(1);
  });

  it('a call that takes long shows that it is at work', async () => {
    const { runId } = await server.play([fetchOf('/held'), 'done']);
    const events = await server.api.until('progress', async () => {
      const seen = await server.api.events(runId);
      return seen.some(({ type }) => type === 'tool.call.progress') ? seen : undefined;
    });
    const mine = events.filter(({ type }) => type.startsWith('tool.call.'));
    expect(mine.map(({ type }) => type)).toEqual(['tool.call.started', 'tool.call.progress']);
    expect(mine[1]?.data).toEqual({ callId: 'c1-0', tool: 'web_fetch', elapsedMs: 5_000 });
    expect((await server.api.call('GET', `/runs/${runId}`)).body.callsInFlight).toMatchObject([{ callId: 'c1-0', tool: 'web_fetch' }]);
    web.release();
    await server.api.ended(runId);
    expect((await server.api.events(runId)).map(({ type }) => type)).not.toContain('tool.call.progress');
  });

  it('sixty calls of one message are all answered, in order, each to its own id', async () => {
    const calls = Array.from({ length: 60 }, (_, index) => ['read_file', { path: `no-${index}.txt` }] as const);
    const { runId, prompts } = await server.play([{ calls }, 'done']);
    expect(await server.api.ended(runId)).toMatchObject({ status: 'succeeded', toolCalls: 60 });
    const results = resultsIn(prompts[1]);
    expect(new Set(results.map(({ id }) => id)).size).toBe(60);
    expect(results.every(({ text }, index) => text.includes(`no-${index}.txt`))).toBe(true);
    expect(faultsIn(prompts)).toEqual([]);
  });

  it('the same call with the same result is refused, then ends the run; a poller whose results change goes on', async () => {
    const stuck = await server.play(() => ({ calls: [['list_directory', {}]] }));
    expect(await server.api.ended(stuck.runId)).toMatchObject({ status: 'limited', outcome: 'loop' });
    expect(stuck.prompts.filter((prompt) => resultsIn(prompt)[0]?.text.includes('LOOP_DETECTED'))).toHaveLength(1);
    const poll = { calls: [['execute_shell', { code: 'echo x >> polls; wc -l < polls' }]] as const };
    const poller = await server.play((turn) => (turn < 8 ? poll : 'done'));
    expect(await server.api.ended(poller.runId)).toMatchObject({ status: 'succeeded', toolCalls: 8 });
  });
});
