import { afterAll, beforeEach, expect, test } from 'vitest';
import { credentialFor } from '../../../lib/cli/credential.ts';
import { loadEnvironment } from '../../../lib/cli/environment.ts';
import { fakeContext } from './fake-context.ts';

const KEYS = { AWS_ACCESS_KEY_ID: 'AKIAEXAMPLE', AWS_SECRET_ACCESS_KEY: 'secret' };
const before = Object.keys(KEYS).map((name) => [name, process.env[name]] as const);
beforeEach(() => void Object.assign(process.env, KEYS));
afterAll(() => {
  for (const [name, value] of before)
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
});

/** What is shown to the server at `url`. */
async function shown(url: string, env: Record<string, string> = {}): Promise<string | undefined> {
  const environment = loadEnvironment(fakeContext({ env }), () => {});
  const headers = await (await credentialFor(url, environment))({ method: 'GET', url: new URL(`${url}/runs`), headers: {} });
  return headers['authorization'];
}

test.each([
  ['an HTTP API', 'https://abc123.execute-api.eu-central-1.amazonaws.com', {}, 'eu-central-1'],
  ['one in China', 'https://abc123.execute-api.cn-north-1.amazonaws.com.cn', {}, 'cn-north-1'],
  ['an address of our own', 'https://agents.example.com', { HANDRAIL_SIGN_REGION: 'us-gov-west-1' }, 'us-gov-west-1'],
])('%s gets a signature for its region', async (_what, url, env, region) => {
  expect(await shown(url, env)).toContain(`/${region}/execute-api/aws4_request`);
});

test('a secret or token comes before a signature', async () => {
  const secret = 'a-token-of-the-issuer';
  expect(await shown('https://abc123.execute-api.eu-central-1.amazonaws.com', { HANDRAIL_SECRET: secret })).toBe(`Bearer ${secret}`);
});

test.each([
  'https://agents.example.com',
  'https://abc.execute-api.eu-west-1.amazonaws.com.evil.example',
  'https://evil.example/abc.execute-api.eu-west-1.amazonaws.com',
  'http://abc.execute-api.eu-west-1.amazonaws.com',
])('nothing is signed for %s unless that is asked for', async (url) => {
  await expect(shown(url)).rejects.toThrow('HANDRAIL_SECRET is not set');
});

test('what is no region is refused by name', async () => {
  await expect(shown('https://agents.example.com', { HANDRAIL_SIGN_REGION: 'yes' })).rejects.toThrow('HANDRAIL_SIGN_REGION');
});
