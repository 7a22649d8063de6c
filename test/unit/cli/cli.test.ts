import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createCli } from '../../../lib/cli/cli.ts';
import { EXIT, exitCodeOf } from '../../../lib/cli/exit-codes.ts';
import { fakeRun } from '../api/fake-services.ts';
import { SECRETS, startBearerServer, type TestServer } from '../api/server.ts';
import { Exited, fakeContext } from './fake-context.ts';

let api: TestServer;
beforeAll(async () => {
  api = await startBearerServer();
  for (let n = 1; n <= 3; n++)
    api.services.store.runs.push(fakeRun(n, { status: 'succeeded', answer: 'done', input: `Task \u001b[2J${n}` }));
});
afterAll(() => api.server.close());

async function handrail(args: readonly string[], over: Parameters<typeof fakeContext>[0] = {}) {
  const context = fakeContext({ ...over, env: { HANDRAIL_URL: api.server.url, HANDRAIL_SECRET: SECRETS.alpha, ...over.env } });
  let code: number | undefined;
  try {
    await createCli(context).parseAsync(['node', 'handrail', ...args]);
    code = context.code();
  } catch (error) {
    if (!(error instanceof Exited)) throw error;
    code = error.code;
  }
  return { code, out: context.out(), err: context.err() };
}

const commands = createCli(fakeContext()).commands.flatMap((command) => [command, ...command.commands]);
const nameOf = (command: (typeof commands)[number]): string[] => {
  const own = command.name();
  return command.parent?.name() === 'handrail' ? [own] : [command.parent?.name() ?? '', own];
};

/** Groups that do nothing by themselves only list their commands. */
const doing = commands.filter((command) => command.commands.length === 0 || command.options.length > 0);

test.each(doing.map((command) => nameOf(command).join(' ')))('%s has --help and --json', async (name) => {
  const { code, out } = await handrail([...name.split(' '), '--help']);
  expect(code).toBe(0);
  expect(out).toContain('--json');
});

test('docs/cli.md names every command, option, variable and exit code', () => {
  const page = readFileSync(new URL('../../../docs/cli.md', import.meta.url), 'utf8');
  for (const command of commands) {
    expect(page).toContain(`handrail ${nameOf(command).join(' ')}`);
    for (const { long } of command.options) expect(page).toContain(long);
  }
  const environment = readFileSync(new URL('../../../lib/cli/environment.ts', import.meta.url), 'utf8');
  for (const [name] of environment.matchAll(/\b(HANDRAIL|ANTHROPIC|OPENAI|AWS)_[A-Z_]+(?=:)/g)) expect(page).toContain(name);
  for (const code of Object.values(EXIT)) expect(page).toMatch(new RegExp(`^\\| ${code} \\|`, 'm'));
});

test.each([
  [['nonsense']],
  [['run']],
  [['run', '   ']],
  [['run', 'x', '--max-iterations', 'many']],
  [['run', 'x', '--frobnicate']],
  [['runs', '--status', 'sleeping']],
  [['runs', 'show']],
  [['approve', 'not-an-id']],
  [['health', '--url', 'nowhere']],
  [[]],
])('handrail %j is wrong usage', async (args) => {
  const { code, out, err } = await handrail(args);
  expect(code).toBe(EXIT.usage);
  expect(out).toBe('');
  expect(err).not.toMatch(/^\s+at /m);
});

test('a list is plain lines when piped and has a head on a terminal', async () => {
  const piped = await handrail(['runs', '--limit', '2']);
  expect(piped.code).toBe(0);
  expect(piped.out.trimEnd().split('\n')).toHaveLength(2);
  expect(piped.out).toContain('Task \\u{1b}[2J1');
  expect(piped.err).toContain('handrail runs --cursor page2');
  expect((await handrail(['runs'], { terminal: true })).out).toMatch(/^RUN +STATUS/);
});

test('--json is one JSON value on stdout and nothing else there', async () => {
  const { out } = await handrail(['runs', '--json']);
  expect(JSON.parse(out).runs).toHaveLength(3);
  expect(JSON.parse((await handrail(['tools', '--json'])).out).tools[0].parameters).toBeDefined();
  expect(JSON.parse((await handrail(['health', '--json'])).out)).toMatchObject({ status: 'ok', url: api.server.url });
});

test('tools names what security leaves out, on stderr', async () => {
  expect((await handrail(['tools'])).err).toContain(
    'left out: execute_shell declares more than "security" allows: execution.allowed_commands: "*"',
  );
});

test('a run is shown with what it did: its effects, by how often', async () => {
  const { out } = await handrail(['runs', 'show', fakeRun(1).runId]);
  expect(out).toMatch(/^effects +fs\.read 2$/m);
});

test('an error of the API is told with its message, its field and what to do, as JSON too', async () => {
  const people = await handrail(['runs', '--limit', '1000']);
  expect(people.code).toBe(EXIT.failed);
  expect(people.err).toMatch(/^error: .*limit[\s\S]*Correct the request\.\n$/);
  const programs = await handrail(['runs', 'show', fakeRun(9).runId, '--json']);
  expect(programs.code).toBe(EXIT.failed);
  expect(JSON.parse(programs.out)).toMatchObject({ error: { code: 'NOT_FOUND', suggestions: ['Check the id.'] } });
});

test('an address without its secret is wrong usage', async () => {
  const { code, err } = await handrail(['runs'], { env: { HANDRAIL_SECRET: '' } });
  expect(code).toBe(EXIT.usage);
  expect(err).toContain('HANDRAIL_SECRET');
});

test('--no-wait starts a run and prints its id', async () => {
  const { code, out } = await handrail(['run', 'a task', '--no-wait', '--session', 's-7']);
  expect(code).toBe(0);
  expect(out).toMatch(/^r-[0-9a-z]{26}\n$/);
  expect(api.services.started.at(-1)).toMatchObject({ input: 'a task', sessionId: 's-7' });
});

test('the exit code tells how a run ended', () => {
  const statuses = ['succeeded', 'failed', 'limited', 'cancelled', 'waiting'] as const;
  expect(statuses.map(exitCodeOf)).toEqual([0, 1, 3, 4, 5]);
});
