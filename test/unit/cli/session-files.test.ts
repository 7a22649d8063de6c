import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createCli } from '../../../lib/cli/cli.ts';
import { SECRETS, startBearerServer, type TestServer } from '../api/server.ts';
import { fakeContext } from './fake-context.ts';

let api: TestServer;
let cwd: string;
beforeAll(async () => {
  api = await startBearerServer();
  cwd = await mkdtemp(join(tmpdir(), 'handrail-files-'));
  await writeFile(join(cwd, 'sales.csv'), 'a,b\n');
});
afterAll(async () => {
  await api.server.close();
  await rm(cwd, { recursive: true });
});
beforeEach(() => api.services.store.files.clear());

async function handrail(args: readonly string[], more: { secret?: string; input?: string; terminal?: boolean } = {}) {
  const env = { HANDRAIL_URL: api.server.url, HANDRAIL_SECRET: more.secret ?? SECRETS.alpha };
  const context = fakeContext({ cwd, env, ...(more.terminal ? { terminal: true } : {}) });
  if (more.input !== undefined) context.stdin.end(more.input);
  await createCli(context).parseAsync(['node', 'handrail', ...args]);
  return { code: context.code(), out: context.out(), err: context.err() };
}
const stored = (path: string) => Buffer.from(api.services.store.files.get(`alpha/s-1/${path}`) ?? []).toString();

test('sessions put, files and get carry a file there and back, byte by byte', async () => {
  expect(await handrail(['sessions', 'put', 's-1', 'sales.csv'])).toMatchObject({ code: 0, out: 'sales.csv created, 4 bytes\n' });
  expect((await handrail(['session', 'put', 's-1', '-', 'data/ein & zwei#.csv'], { input: 'x%2e' })).code).toBe(0);
  expect(stored('data/ein & zwei#.csv')).toBe('x%2e');
  const again = await handrail(['sessions', 'put', 's-1', 'sales.csv', '--json']);
  expect(JSON.parse(again.out)).toEqual({ sessionId: 's-1', path: 'sales.csv', bytes: 4, created: false });
  const listed = await handrail(['sessions', 'files', 's-1']);
  expect(listed.out.split('\n').map((line) => line.split(/ {2,}/))).toMatchObject([
    ['4', expect.any(String), 'sales.csv'],
    ['4', expect.any(String), 'data/ein & zwei#.csv'],
    [''],
  ]);
  expect((await handrail(['sessions', 'get', 's-1', 'sales.csv'])).out).toBe('a,b\n');
  const asJson = JSON.parse((await handrail(['sessions', 'get', 's-1', './sales.csv', '--json'])).out);
  expect(Buffer.from(asJson.base64, 'base64').toString()).toBe('a,b\n');
});

test('sessions get writes into a file, and shows a terminal nothing that could move it', async () => {
  const bytes = Buffer.from([0, 255, 10]);
  api.services.store.files.set('alpha/s-1/raw', bytes);
  api.services.store.files.set('alpha/s-1/text', Buffer.from('\u001b[2Jred'));
  expect((await handrail(['sessions', 'get', 's-1', 'raw', '--output', 'copy'])).code).toBe(0);
  expect((await readFile(join(cwd, 'copy'))).equals(bytes)).toBe(true);
  expect(await handrail(['sessions', 'get', 's-1', 'raw'], { terminal: true })).toMatchObject({
    code: 1,
    err: expect.stringContaining('--output <file>'),
  });
  expect((await handrail(['sessions', 'get', 's-1', 'text'], { terminal: true })).out).toBe('\\u{1b}[2Jred\n');
});

test.each([
  [['files', 's-9'], 1, 'there is no session s-9'],
  [['get', 's-1', 'none'], 1, 'none: there is no such file'],
  [['get', 's-1', '../s-2/a'], 1, 'without . and ..'],
  [['put', 's-1', 'sales.csv', 'a/../../b'], 1, 'without . and ..'],
  [['put', 's-1', 'absent.csv'], 2, 'absent.csv cannot be read (ENOENT)'],
  [['put', 's-1', '-'], 2, 'say where the file goes'],
])('sessions %s ends with %i and says why', async (args, code, why) => {
  expect(await handrail(['sessions', ...args])).toMatchObject({ code, out: '', err: expect.stringContaining(why) });
  expect(api.services.store.files.size).toBe(0);
});

test('sessions put needs the permission "run"', async () => {
  expect(await handrail(['sessions', 'put', 's-1', 'sales.csv'], { secret: SECRETS.read })).toMatchObject({ code: 1, out: '' });
});
