import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadEnvironment } from '../../../lib/cli/environment.ts';
import { fakeContext } from './fake-context.ts';

let cwd: string;
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'handrail-env-'));
  await writeFile(
    join(cwd, '.env'),
    ['HANDRAIL_PORT=9001', 'OPENAI_BASE_URL="http://127.0.0.1:1234/v1"', 'HANDRAIL_GUARD=off', 'PATH=/mine', 'NODE_OPTIONS=--x'].join('\n'),
  );
});
afterAll(() => rm(cwd, { recursive: true }));

const load = (context: ReturnType<typeof fakeContext>, warnings: string[] = []) => loadEnvironment(context, (line) => warnings.push(line));

test('without anything set there are defaults, and the data directory is in the current one', () => {
  expect(load(fakeContext({ cwd: '/somewhere' }))).toMatchObject({ HANDRAIL_PORT: 8787, directory: '/somewhere/.handrail' });
});

test('.env adds what is not set, and nothing that Handrail does not know', () => {
  const context = fakeContext({ cwd, env: { PATH: '/usr/bin' } });
  const warnings: string[] = [];
  expect(load(context, warnings)).toMatchObject({ HANDRAIL_PORT: 9001, OPENAI_BASE_URL: 'http://127.0.0.1:1234/v1' });
  expect(context.env).toEqual({ PATH: '/usr/bin', HANDRAIL_PORT: '9001', OPENAI_BASE_URL: 'http://127.0.0.1:1234/v1' });
  expect(warnings).toEqual([expect.stringContaining('HANDRAIL_GUARD')]);
});

test('the environment goes before .env, and an empty variable counts as not set', () => {
  expect(load(fakeContext({ cwd, env: { HANDRAIL_PORT: '7000' } })).HANDRAIL_PORT).toBe(7000);
  expect(load(fakeContext({ cwd, env: { HANDRAIL_PORT: '' } })).HANDRAIL_PORT).toBe(9001);
});

test.each([
  ['HANDRAIL_PORT', 'http'],
  ['HANDRAIL_PORT', '65536'],
  ['HANDRAIL_PORT', '-1'],
  ['HANDRAIL_PORT', ' 80'],
  ['HANDRAIL_URL', 'ftp://example.com/'],
  ['HANDRAIL_SECRET', 'too short'],
  ['HANDRAIL_LOG', 'loud'],
])('%s=%s is a usage error that names the variable and not its value', (name, value) => {
  expect(() => load(fakeContext({ env: { [name]: value } }))).toThrow(
    expect.objectContaining({ exitCode: 2, message: expect.stringMatching(`^${name}: (?!.*${value})`) }),
  );
});

describe('lines of .env that are not understood are named with what to do, never with what they say', () => {
  const read = async (text: string) => {
    const directory = await mkdtemp(join(tmpdir(), 'handrail-env-'));
    try {
      await writeFile(join(directory, '.env'), text);
      const context = fakeContext({ cwd: directory });
      const warnings: string[] = [];
      load(context, warnings);
      return { env: context.env, warnings };
    } finally {
      await rm(directory, { recursive: true });
    }
  };

  test.each([
    ['no "="', 'AWS_REGION=eu-west-1\nOPENAI_API_KEY sk-secret\n', 2, 'has no "="'],
    ['a colon for "="', '\n# keys\nOPENAI_API_KEY: sk-secret', 3, 'has no "="'],
    ['a name with a blank', 'OPENAI API_KEY=sk-secret', 1, 'not a name'],
    ['no name', '=sk-secret', 1, 'not a name'],
    ['a quote that is not closed', 'OPENAI_API_KEY="sk-secret\nAWS_REGION=x', 1, 'not closed'],
    ['text behind a quote', 'OPENAI_API_KEY="sk\\"-secret"', 1, 'follows the closing "'],
    ['a line behind a value of several', 'NOTE="sk-secret\nmore"\nsk-secret', 3, 'has no "="'],
  ])('%s', async (_what, text, line, what) => {
    const { warnings } = await read(text);
    expect(warnings).toEqual([expect.stringMatching(new RegExp(`^\\.env:${line}: .*${what}`))]);
    expect(warnings.join()).not.toContain('sk');
  });

  test('what is well written is no matter, however it is written', async () => {
    const text = '\uFEFFAWS_REGION=a\r\nexport AWS_PROFILE = "p" # mine\n\n#x\nNOTE=\'a\nb = c\n\'\nOPENAI_API_KEY=k=1"2\nEMPTY=';
    const { env, warnings } = await read(text);
    expect(warnings).toEqual([]);
    expect(env).toEqual({ AWS_REGION: 'a', AWS_PROFILE: 'p', OPENAI_API_KEY: 'k=1"2' });
  });
});
