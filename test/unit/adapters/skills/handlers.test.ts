import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inProcessHandler } from '../../../../lib/adapters/skills/in-process.ts';
import { createSkillFetch } from '../../../../lib/adapters/skills/skill-fetch.ts';
import { defineTool } from '../../../../lib/core/hands/define-tool.ts';
import type { SkillHandler } from '../../../../lib/core/skills/context.ts';
import { givenSkill } from '../../../support/skill-calls.ts';
import { toolContext } from '../../../support/tool-context.ts';
import { connectToLoopback, httpServer, type LoopbackServer } from '../../../support/web-server.ts';

const text = (data: string): Uint8Array => new TextEncoder().encode(data);
const seen: { method: string | undefined; url: string | undefined; headers: Record<string, unknown>; body: string }[] = [];
let server: LoopbackServer;
beforeAll(async () => {
  server = await httpServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      seen.push({ method: request.method, url: request.url, headers: request.headers, body: Buffer.concat(chunks).toString() });
      const [, kind = ''] = request.url?.split('/') ?? [];
      if (kind === 'moved') response.writeHead(302, { location: 'http://api.example.com/page' }).end();
      else if (kind === 'away') response.writeHead(302, { location: 'http://elsewhere.example.org/' }).end();
      else if (kind === 'metadata') response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end();
      else if (kind === 'round') response.writeHead(302, { location: '/round' }).end();
      else if (kind === 'other') response.writeHead(307, { location: 'http://two.example.com/page' }).end();
      else response.writeHead(kind === 'missing' ? 404 : 200, { 'content-type': 'text/plain', 'set-cookie': 'a=b' }).end('the page');
    });
  });
});
afterAll(() => server.close());

const WEB = {
  resolve: async (host: string) => (host === 'inside.example.com' ? ['127.0.0.1'] : ['93.184.215.14']),
  connectTo: connectToLoopback(() => server.port),
};
const NETWORK =
  'permissions:\n  network: { allowed_domains: [api.example.com, two.example.com, inside.example.com], allowed_ports: [80] }\n';

describe('a handler in a process of its own', () => {
  it('is given its arguments and its call, and answers text or JSON', async () => {
    const { call } = await givenSkill(`
      export default async (args, ctx) => {
        if (args.plain) return 'text';
        if (args.nothing) return undefined;
        return { args, callId: ctx.callId, sessionId: ctx.sessionId, previous: ctx.previousResults.length, files: 'workspace' in ctx, aborted: ctx.signal.aborted };
      };`);
    expect(await call({ a: [1, 'ä'] })).toEqual({
      json: { args: { a: [1, 'ä'] }, callId: 'c1-0', sessionId: 's1', previous: 0, files: false, aborted: false },
    });
    expect(await call({ plain: true })).toEqual({ text: 'text' });
    expect(await call({ nothing: true })).toEqual({ text: '(no result)' });
  });

  it('may be TypeScript, export it as "handler", and import from its folder and from installed packages', async () => {
    const { call } = await givenSkill('', {
      frontMatter: 'handler: src/main.ts\n',
      files: {
        'src/main.ts':
          "import { half } from 'installed';\nimport { twice } from './twice.ts';\nexport const handler = (args: { n: number }): object => ({ twice: twice(args.n), half: half(args.n) });\n",
        'src/twice.ts': 'export const twice = (n: number): number => 2 * n;\n',
        '../../node_modules/installed/package.json': '{ "type": "module", "exports": "./index.js" }',
        '../../node_modules/installed/index.js': 'export const half = (n) => n / 2;\n',
      },
    });
    expect(await call({ n: 4 })).toEqual({ json: { twice: 8, half: 2 } });
  });

  it('fails as it says, when it says a code; else in a way that nobody foresaw', async () => {
    const { call } = await givenSkill(`
      export default (args) => { throw args.code ? Object.assign(new Error('why'), { code: args.code }) : new TypeError('a bug'); };`);
    await expect(call({ code: 'RATE_LIMITED' })).rejects.toMatchObject({ name: 'HandrailError', code: 'RATE_LIMITED', message: 'why' });
    await expect(call({ code: 'FORBIDDEN' })).rejects.toMatchObject({ name: 'Error', message: 'why' });
    await expect(call({ code: 'ENOENT' })).rejects.toMatchObject({ name: 'Error' });
    await expect(call({})).rejects.toMatchObject({ name: 'Error', message: 'a bug' });
  });

  it('that gives back what is no JSON, exports nothing or ends its process gets an answer all the same', async () => {
    const circle = await givenSkill('export default () => { const a = {}; a.a = a; return a; };');
    await expect(circle.call()).rejects.toThrow(/circular/i);
    const nothing = await givenSkill('export const other = 1;');
    await expect(nothing.call()).rejects.toThrow('exports no function');
    const broken = await givenSkill('import "./not-there.js"; export default () => 1;');
    await expect(broken.call()).rejects.toThrow(/not-there/);
    const exits = await givenSkill('export default () => process.exit(3);');
    await expect(exits.call()).rejects.toMatchObject({ code: 'SANDBOX_CRASHED', message: expect.stringContaining('code 3') });
  });

  it('is told when its time is over, and ended when it does not listen', async () => {
    const polite = await givenSkill(`
      export default (_args, ctx) => new Promise((resolve) => ctx.signal.addEventListener('abort', () => resolve('stopped')));`);
    expect(await polite.call({}, { signal: AbortSignal.timeout(3_000) })).toEqual({ text: 'stopped' });
    const deaf = await givenSkill('export default () => { for (;;); };');
    await expect(deaf.call({}, { signal: AbortSignal.timeout(3_000) })).rejects.toMatchObject({
      code: 'SANDBOX_CRASHED',
      message: expect.stringContaining('did not end when it was told to'),
    });
  });

  it('works on the files that its permissions name, and on no others', async () => {
    const { call, workspace } = await givenSkill(
      `export default async (args, ctx) => {
        const file = new TextDecoder().decode(await ctx.workspace.read('data/in.csv'));
        await ctx.workspace.write('out/copy.csv', new TextEncoder().encode(file.toUpperCase()), 'create');
        const tried = {};
        for (const [name, attempt] of Object.entries({
          read: () => ctx.workspace.read('secret.txt'),
          star: () => ctx.workspace.read('data/*'),
          up: () => ctx.workspace.read('data/../secret.txt'),
          write: () => ctx.workspace.write('data/in.csv', new Uint8Array(1), 'overwrite'),
          remove: () => ctx.workspace.remove('secret.txt'),
        })) tried[name] = await attempt().then(() => 'done', (error) => error.code);
        return { tried, list: (await ctx.workspace.list('.', { depth: 3, limit: 100 })).map((entry) => entry.path).sort() };
      };`,
      { frontMatter: 'permissions:\n  filesystem: { read: ["data/**"], write: ["out/*.csv"] }\n' },
    );
    await workspace.write('data/in.csv', text('a,b'), 'create');
    await workspace.write('secret.txt', text('secret'), 'create');
    expect(await call()).toEqual({
      json: {
        tried: {
          read: 'PERMISSION_DENIED',
          star: 'PERMISSION_DENIED',
          up: 'PERMISSION_DENIED',
          write: 'PERMISSION_DENIED',
          remove: 'PERMISSION_DENIED',
        },
        list: ['data', 'data/in.csv', 'out/copy.csv'],
      },
    });
    expect(new TextDecoder().decode(await workspace.read('out/copy.csv'))).toBe('A,B');
  });

  it('reaches the hosts of its permissions through ctx.fetch', async () => {
    const { call } = await givenSkill(
      `export default async (args, ctx) => {
        const response = await ctx.fetch(args.url, args.init);
        return { status: response.status, url: response.url, type: response.headers.get('content-type'), cookie: response.headers.get('set-cookie'), body: await response.text() };
      };`,
      { frontMatter: NETWORK, web: WEB },
    );
    const init = { method: 'PUT', headers: { 'x-one': '1' }, body: 'sent' };
    expect(await call({ url: 'http://api.example.com/page', init })).toEqual({
      json: { status: 200, url: 'http://api.example.com/page', type: 'text/plain', cookie: null, body: 'the page' },
    });
    expect(seen.at(-1)).toMatchObject({
      method: 'PUT',
      body: 'sent',
      headers: { 'x-one': '1', 'user-agent': 'test', host: 'api.example.com' },
    });
    expect(await call({ url: 'http://api.example.com/missing' })).toMatchObject({ json: { status: 404 } });
    for (const url of [
      'http://elsewhere.example.org/',
      'http://api.example.com:8080/',
      'http://inside.example.com/',
      'file:///etc/passwd',
      'http://127.0.0.1/',
    ])
      await expect(call({ url })).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
    await expect(call({ url: 'nonsense' })).rejects.toMatchObject({ code: 'INVALID_ARGUMENTS' });
  });
});

describe('the fetch of a skill', () => {
  const fetchWith = createSkillFetch({
    policy: { allowedDomains: ['api.example.com', 'two.example.com'], allowedPorts: [80] },
    userAgent: 'test',
    ...WEB,
  });
  const get = (path: string, over = {}) =>
    fetchWith({ url: `http://api.example.com/${path}`, method: 'GET', headers: {}, ...over }, new AbortController().signal);

  it('follows redirects to where it may go, and refuses the others at each hop', async () => {
    expect(await get('moved')).toMatchObject({ status: 200, url: 'http://api.example.com/page' });
    await expect(get('away')).rejects.toMatchObject({
      code: 'PERMISSION_DENIED',
      message: expect.stringContaining('elsewhere.example.org'),
    });
    await expect(get('metadata')).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
    await expect(get('round')).rejects.toThrow('redirects more than 5 times');
  });

  it('takes secrets to no other host, and the body only where the server asks for it again', async () => {
    await get('other', {
      method: 'POST',
      body: 'data',
      headers: { authorization: 'Bearer x', 'content-type': 'text/plain', 'x-note': 'n' },
    });
    expect(seen.at(-1)).toMatchObject({ method: 'POST', body: 'data', headers: { host: 'two.example.com', 'x-note': 'n' } });
    expect(seen.at(-1)?.headers).not.toHaveProperty('authorization');
    await get('moved', { method: 'POST', body: 'data', headers: { 'content-type': 'text/plain' } });
    expect(seen.at(-1)).toMatchObject({ method: 'GET', body: '' });
    expect(seen.at(-1)?.headers).not.toHaveProperty('content-type');
  });

  it('sends no header that is not for a handler to set', async () => {
    for (const headers of [{ host: 'x' }, { 'content-length': '5' }, { 'a b': 'c' }, { a: 'b\r\nc: d' }])
      await expect(get('page', { headers })).rejects.toMatchObject({ code: 'INVALID_ARGUMENTS' });
  });
});

describe('a handler in the process of its Lambda', () => {
  const tool = (permissions = {}) =>
    defineTool({ name: 'probe', description: 'A probe.', parameters: { type: 'object' }, category: 'skill', permissions });
  const noFetch = async (): Promise<never> => {
    throw new Error('no request is made here');
  };

  it('is given the same context, and its result and errors are read alike', async () => {
    const handler: SkillHandler = (args, ctx) => {
      if (args['code']) throw Object.assign(new Error('why'), { code: args['code'] });
      return { files: 'workspace' in ctx, callId: ctx.callId };
    };
    const call = inProcessHandler(tool(), handler, { fetch: noFetch });
    expect(await call({}, toolContext(), {})).toEqual({ json: { files: false, callId: 'c1-0' } });
    await expect(call({ code: 'NETWORK_ERROR' }, toolContext(), {})).rejects.toMatchObject({
      name: 'HandrailError',
      code: 'NETWORK_ERROR',
    });
    await expect(inProcessHandler(tool(), () => 1n as never, { fetch: noFetch })({}, toolContext(), {})).rejects.toMatchObject({
      code: 'INVALID_OUTPUT',
    });
  });
});
