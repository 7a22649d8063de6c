import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
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
