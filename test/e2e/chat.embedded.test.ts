import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type CliProcess, hasPty, startCli, startCliWith, startOnTerminal } from './cli-process.ts';

let directory: string;
const started: CliProcess[] = [];
const track = (cli: CliProcess): CliProcess => {
  started.push(cli);
  return cli;
};
const runsOf = async (session: string): Promise<string[]> => {
  const { out } = await track(startCli(directory, ['runs', '--session', session, '--json'])).ended;
  const { runs } = JSON.parse(out) as { runs: { status: string }[] };
  return runs.map(({ status }) => status);
};

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'handrail-chat-'));
  await writeFile(join(directory, 'handrail.config.yaml'), 'constraints: { guard: { tool_policy: { write_file: confirm } } }\n');
});
afterEach(async () => {
  for (const { child, ended } of started.splice(0)) {
    child.kill('SIGKILL');
    await ended;
  }
  await rm(directory, { recursive: true });
});

test('piped, each line is a run of one session, and stdout holds the answers', async () => {
  const { code, out, err } = await track(startCliWith('Add up our sales\n\nAnd once more\n', directory, ['chat', '--session', 'talk']))
    .ended;
  expect(code).toBe(0);
  expect(out.match(/I read sales\.csv/g)).toHaveLength(2);
  expect(err.match(/no terminal to ask on|write_file needs approval/g)?.length).toBeGreaterThanOrEqual(2);
  expect(out + err).not.toContain('\u001b');
  expect(await runsOf('talk')).toEqual(['succeeded', 'succeeded']);
});

test('piped with --json, a run a line; the first that does not complete ends it with its code', async () => {
  const input = 'Add up our sales\nThis is not read any more\n';
  const left = await track(startCliWith(input, directory, ['chat', '--json', '--non-tty-pending'])).ended;
  expect(left.code).toBe(5);
  expect(
    left.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).status),
  ).toEqual(['waiting']);

  const unknown = await track(startCliWith(input, directory, ['chat', '--json', '--agent', 'nobody'])).ended;
  expect(unknown.code).toBe(1);
  expect(JSON.parse(unknown.out)).toMatchObject({ error: { code: 'BAD_REQUEST' } });
});

describe.skipIf(!hasPty)('on a terminal (needs python3 for a pseudo-terminal)', () => {
  test('it asks in place, Ctrl-C cancels the run and not the chat, Ctrl-D ends', async () => {
    const cli = track(startOnTerminal(directory, ['chat', '--session', 'talk']));
    const type = (keys: string) => cli.child.stdin?.write(keys);
    await cli.says(/Ctrl-D ends[\s\S]*> /);
    type('Add up our sales\r');
    await cli.says(/Approve\? \[y\/N\]/);
    type('y\r');
    await cli.says(/write_file was approved[\s\S]*succeeded[\s\S]*\n[^\n]*> /);

    type('half a line\u0003Once more\r');
    await cli.says(/write_file was approved[\s\S]*Approve\? \[y\/N\]/);
    type('\u0003');
    await cli.says(/ended: cancelled[\s\S]*cancelled \(cancelled\)[\s\S]*\n[^\n]*> /);

    type('\u0004');
    const { code, out } = await cli.ended;
    expect(code).toBe(0);
    expect(out).toContain('Go on: handrail chat --session talk');
    expect(await runsOf('talk')).toEqual(['cancelled', 'succeeded']);
    const { out: shown } = await track(startCli(directory, ['sessions', 'show', 'talk', '--json'])).ended;
    expect(shown).not.toContain('half a line');
  });

  test('a run that cannot be started is told, and the chat goes on', async () => {
    const cli = track(startOnTerminal(directory, ['chat', '--agent', 'nobody']));
    await cli.says(/Ctrl-D ends[\s\S]*> /);
    cli.child.stdin?.write('hello\r');
    await cli.says(/error:[^\n]*"?nobody"?[\s\S]*\n[^\n]*> /);
    cli.child.stdin?.write('\u0004');
    expect((await cli.ended).code).toBe(0);
  });
});
