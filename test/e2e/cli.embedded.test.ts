import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { apiClient } from './api-client.ts';
import { type CliProcess, hasPty, startCli, startOnTerminal } from './cli-process.ts';

const CONFIG = 'constraints:\n  guard:\n    tool_policy:\n      write_file: confirm\n';
let directory: string;
const started: CliProcess[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'handrail-cli-'));
  await writeFile(join(directory, 'handrail.config.yaml'), CONFIG);
});
afterEach(async () => {
  for (const { child, ended } of started.splice(0)) {
    child.kill('SIGKILL');
    await ended;
  }
  await rm(directory, { recursive: true });
});

const start = (...args: string[]): CliProcess => track(startCli(directory, args));
const onTerminal = (...args: string[]): CliProcess => track(startOnTerminal(directory, args));
const track = (cli: CliProcess): CliProcess => {
  started.push(cli);
  return cli;
};
const run = async (...args: string[]) => start(...args).ended;
async function serve(env: Record<string, string> = {}) {
  const server = track(startCli(directory, ['serve', '--json'], { HANDRAIL_PORT: '0', ...env }));
  const [line] = await server.says(/\{.*\}/);
  return { server, facts: JSON.parse(line) as { url: string; link: string; model: string; because: string; demo: boolean } };
}

test('piped, a run plays the demo, rejects what needs a person, and prints the answer alone on stdout', async () => {
  const { code, out, err } = await run('run', 'Add up our sales');
  expect(code).toBe(0);
  expect(out).toMatch(/^I read sales\.csv/);
  expect(out).toContain('no terminal to ask on');
  expect(err).toMatch(/→ read_file[\s\S]*✓ execute_python[\s\S]*write_file needs approval[\s\S]*✗ write_file[\s\S]*succeeded/);
  expect(out + err).not.toContain('\u001b');
  expect(existsSync(join(directory, '.handrail', 'server.json'))).toBe(false);
});

test('left pending, a run ends with 5; approving it without a server sees it through', async () => {
  const first = await run('run', 'Add up our sales', '--non-tty-pending', '--json');
  expect(first.code).toBe(5);
  const waiting = JSON.parse(first.out);
  expect(waiting).toMatchObject({ status: 'waiting', approvals: [{ tool: 'write_file' }] });

  const listed = await run('approvals', '--json');
  expect(JSON.parse(listed.out).approvals[0].approvalId).toBe(waiting.approvals[0].approvalId);

  const second = await run('approve', waiting.approvals[0].approvalId, '--json');
  expect(second.code).toBe(0);
  expect(JSON.parse(second.out)).toMatchObject({ runId: waiting.runId, status: 'succeeded', effects: { 'fs.write': 1 } });

  await writeFile(join(directory, 'handrail.config.yaml'), `${CONFIG}    non_tty_pending: true\n`);
  expect((await run('run', 'Add up our sales', '--json')).code).toBe(5);
  expect((await run('run', 'Add up our sales', '--no-non-tty-pending', '--json')).code).toBe(0);

  const again = await run('reject', waiting.approvals[0].approvalId, '--json');
  expect(again.code).toBe(1);
  expect(JSON.parse(again.out)).toMatchObject({ error: { code: 'ALREADY_DECIDED' } });
});

test('a run that waits can be cancelled without a server; one at its limit ends with 3', async () => {
  const waiting = JSON.parse((await run('run', 'x', '--non-tty-pending', '--json')).out);
  expect((await run('cancel', waiting.runId)).code).toBe(0);
  expect(JSON.parse((await run('runs', 'show', waiting.runId, '--json')).out)).toMatchObject({ status: 'cancelled' });
  const limited = await run('run', 'x', '--max-iterations', '1', '--json');
  expect([limited.code, JSON.parse(limited.out).outcome]).toEqual([3, 'iteration_limit']);
});

test('serve says address, link, model and why; the CLI finds it; a second one is told where it is; Ctrl-C ends it cleanly', async () => {
  const { server, facts } = await serve();
  expect(facts).toMatchObject({ model: 'scripted/demo', because: 'HANDRAIL_MODEL=demo', demo: true });
  const page = await fetch(facts.link, { redirect: 'manual' });
  expect([page.status, page.headers.get('set-cookie')]).toEqual([303, expect.stringContaining('SameSite=Strict')]);

  expect(JSON.parse((await run('health', '--json')).out)).toMatchObject({ status: 'ok', url: facts.url });
  const second = await run('serve');
  expect([second.code, second.err]).toEqual([1, expect.stringContaining(facts.url)]);
  const id = (await run('run', 'Add up our sales', '--no-wait')).out.trim();
  expect(id).toMatch(/^r-/);
  expect((await run('runs')).out).toContain(id);

  server.child.kill('SIGINT');
  expect((await server.ended).code).toBe(0);
  expect(existsSync(join(directory, '.handrail', 'server.json'))).toBe(false);
  expect((await run('health')).code).toBe(1);
  expect(JSON.parse((await run('runs', 'show', id, '--json')).out).runId).toBe(id);
});

test('for people, serve prints what to open and what to try', async () => {
  const server = track(startCli(directory, ['serve'], { HANDRAIL_PORT: '0' }));
  await server.says(/Ctrl-C stops/);
  expect(server.text()).toMatch(/http:\/\/127\.0\.0\.1:\d+\/\?key=\S+[\s\S]*scripted\/demo[\s\S]*npx handrail run "/);
  server.child.kill('SIGTERM');
  expect((await server.ended).code).toBe(0);
});

test('the demo comes to its answer although the plug is pulled in the middle of a call', async () => {
  const first = await serve();
  const secretOf = async () => `Bearer ${JSON.parse(await readFile(join(directory, '.handrail', 'server.json'), 'utf8')).secret}`;
  const before = apiClient({ url: first.facts.url, authorization: await secretOf() });
  const runId = await before.start('Add up our sales');
  await before.until('Python at work', async () =>
    (await before.events(runId)).some(({ type, data }) => type === 'tool.call.started' && data.tool === 'execute_python')
      ? true
      : undefined,
  );
  first.server.child.kill('SIGKILL');
  await first.server.ended;

  const second = await serve();
  const api = apiClient({ url: second.facts.url, authorization: await secretOf() });
  const [approval] = await api.approvals(runId, 1);
  expect(approval.arguments.content).toContain('**Total: 5,697.50**');
  await api.call('POST', `/approvals/${approval.approvalId}`, { decision: 'approve' });
  expect(await api.ended(runId)).toMatchObject({ status: 'succeeded', effects: { 'fs.write': 1 } });
  const failed = (await api.events(runId)).filter(({ type }) => type === 'tool.call.failed');
  expect(failed).toMatchObject([{ data: { tool: 'execute_python', error: { code: 'OUTCOME_UNKNOWN' } } }]);
});

test('serve says at once what the configuration leaves out', async () => {
  await writeFile(
    join(directory, 'handrail.config.yaml'),
    'approvals: { self_approve: false }\nsecurity: { filesystem: { read: ["**"] }, execution: { allowedCommands: ["*"] } }\n',
  );
  const { server } = await serve();
  await server.says(/WARN a tool is left out: .*tool=write_file/);
  await server.says(/WARN approvals\.self_approve is false.*approved by nobody/);
});

test('a port in use says how to take another', async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const { port } = taken.address() as AddressInfo;
  const { code, err } = await track(startCli(directory, ['serve'], { HANDRAIL_PORT: String(port) })).ended;
  taken.close();
  expect([code, err]).toEqual([1, expect.stringContaining('HANDRAIL_PORT=')]);
});

test('a mistake in the configuration stops the start with file, line and field, and no stack', async () => {
  await writeFile(join(directory, 'handrail.config.yaml'), 'constraints:\n  guard:\n    tool_polcy: {}\n');
  for (const args of [['serve'], ['run', 'x']]) {
    const { code, out, err } = await run(...args);
    expect([code, out]).toEqual([1, '']);
    expect(err).toBe('error: handrail.config.yaml:3: constraints.guard.tool_polcy: there is no such setting\n');
  }
  await writeFile(join(directory, 'handrail.config.yaml'), 'constraints:\n  guard:\n    tool_policy:\n      wirte_file: deny\n');
  const misspelt = await run('run', 'x');
  await writeFile(join(directory, 'handrail.config.yaml'), 'models: { default: { provider: scripted, script: nowhere.yaml } }\n');
  const scriptless = await track(startCli(directory, ['run', 'x'], { HANDRAIL_MODEL: '' })).ended;
  expect([scriptless.code, scriptless.err]).toEqual([
    1,
    expect.stringMatching(/^error: handrail\.config\.yaml:1: models\.default\.script: there is no file \S+nowhere\.yaml\n$/),
  ]);
  await rm(join(directory, 'handrail.config.yaml'));
  await mkdir(join(directory, 'handrail.config.yaml'));
  const unread = await run('run', 'x');
  expect([unread.code, unread.err]).toEqual([
    1,
    expect.stringMatching(/^error: \S+handrail\.config\.yaml cannot be read \(it is a directory\)\n$/),
  ]);
  expect([misspelt.code, misspelt.err]).toEqual([
    1,
    'error: handrail.config.yaml:4: constraints.guard.tool_policy.wirte_file: there is no tool "wirte_file"; did you mean "write_file"?\n',
  ]);
});

describe.skipIf(!hasPty)('on a terminal (needs python3 for a pseudo-terminal)', () => {
  test('a run shows progress, asks, and with "y" writes the file', async () => {
    const cli = onTerminal('run', 'Add up our sales');
    await cli.says(/Approve\? \[y\/N\]/);
    expect(cli.text()).toContain('# Sales, October 2026');
    cli.child.stdin?.write('y\r');
    const { code, out } = await cli.ended;
    expect(code).toBe(0);
    expect(out).toMatch(/write_file was approved[\s\S]*I read sales\.csv[\s\S]*"path": "report\.md"/);
    expect(out).toMatch(/execute_python \d/);
    expect(out).toContain('\u001b[');
  });

  test('Enter alone rejects', async () => {
    const cli = onTerminal('run', 'Add up our sales');
    await cli.says(/Approve\? \[y\/N\]/);
    cli.child.stdin?.write('\r');
    const { code, out } = await cli.ended;
    expect([code, out]).toEqual([0, expect.stringContaining('APPROVAL_REJECTED')]);
  });

  test('Ctrl-C at the question keeps the run for later', async () => {
    const cli = onTerminal('run', 'Add up our sales');
    await cli.says(/Approve\? \[y\/N\]/);
    cli.child.stdin?.write('\u0003');
    const { code, out } = await cli.ended;
    expect(code).toBe(130);
    const runId = /handrail cancel (r-\w+)/.exec(out)?.[1] ?? '';
    expect(JSON.parse((await run('runs', 'show', runId, '--json')).out)).toMatchObject({ status: 'waiting' });
  });
});
