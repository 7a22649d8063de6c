import { expect, it } from 'vitest';
import { givenSkill } from '../support/skill-calls.ts';

/** A handler is trusted by whoever deploys it; this is what it cannot do by mistake, or when what it fetched took it over. */
const attempts = async (code: string): Promise<unknown> => {
  const { call } = await givenSkill(`
    import * as fs from 'node:fs';
    import * as net from 'node:net';
    import * as childProcess from 'node:child_process';
    import { Worker } from 'node:worker_threads';
    import dns from 'node:dns/promises';
    const tried = async (attempt) => { try { const value = await attempt(); return 'done ' + String(value).slice(0, 40); } catch (error) { return error.code ?? error.message; } };
    export default async (args, ctx) => { ${code} };`);
  const output = await call();
  return 'json' in output ? output.json : output;
};

it('a handler reads no file of the machine, not by a link either, and writes none', async () => {
  expect(
    await attempts(`return {
      passwd: await tried(() => fs.readFileSync('/etc/passwd', 'utf8')),
      environ: await tried(() => fs.readFileSync('/proc/self/environ', 'utf8')),
      parent: await tried(() => fs.readFileSync('/proc/' + process.ppid + '/environ', 'utf8')),
      link: await tried(() => fs.symlinkSync('/etc/passwd', '/tmp/handrail-link-' + process.pid)),
      write: await tried(() => fs.writeFileSync('/tmp/handrail-write-' + process.pid, 'x')),
      list: await tried(() => fs.readdirSync('/')),
    };`),
  ).toEqual({
    passwd: 'ERR_ACCESS_DENIED',
    environ: 'ERR_ACCESS_DENIED',
    parent: 'ERR_ACCESS_DENIED',
    link: 'ERR_ACCESS_DENIED',
    write: 'ERR_ACCESS_DENIED',
    list: 'ERR_ACCESS_DENIED',
  });
});

it('a handler has no credentials in its environment', async () => {
  process.env['AWS_SECRET_ACCESS_KEY'] = 'CANARY-of-the-parent';
  try {
    const keys = await attempts('return Object.keys(process.env).filter((key) => !key.startsWith("NODE_CHANNEL")).sort();');
    expect(keys).toEqual(['LANG', 'PATH', 'PWD', 'TZ'].filter((key) => (keys as string[]).includes(key)));
  } finally {
    delete process.env['AWS_SECRET_ACCESS_KEY'];
  }
});

it('a handler starts no process and no thread, and opens no connection of its own', async () => {
  expect(
    await attempts(`return {
      exec: await tried(() => childProcess.execSync('id')),
      worker: await tried(() => new Worker('1', { eval: true })),
      fetch: await tried(() => fetch('http://127.0.0.1:9/')),
      net: await tried(() => new Promise((resolve, reject) => net.connect(9, '127.0.0.1').on('error', reject).on('connect', resolve))),
      dns: await tried(() => dns.lookup('localhost')),
      kill: await tried(() => process.kill(process.ppid, 'SIGKILL')),
      through: await tried(() => ctx.fetch('http://127.0.0.1:9/')),
    };`),
  ).toEqual({
    exec: 'ERR_ACCESS_DENIED',
    worker: 'ERR_ACCESS_DENIED',
    fetch: 'ERR_ACCESS_DENIED',
    net: 'ERR_ACCESS_DENIED',
    dns: 'ERR_ACCESS_DENIED',
    kill: 'ERR_ACCESS_DENIED',
    through: 'PERMISSION_DENIED',
  });
});

it('a handler that writes to the pipe itself gets no further than its permissions', async () => {
  const { call } = await givenSkill(`export default () => new Promise((resolve) => {
    process.on('message', (message) => { if (message.id === 99) resolve(message); });
    process.send({ type: 'ask', id: 99, means: { op: 'read', path: '../../etc/passwd' } });
  });`);
  expect(await call()).toEqual({
    json: { type: 'refusal', id: 99, code: 'PERMISSION_DENIED', message: 'the skill has no permission for files' },
  });
  const garbage = await givenSkill(
    'export default () => { process.send({ type: "ask", id: 1, means: { op: "exec" } }); return new Promise(() => {}); };',
  );
  await expect(garbage.call()).rejects.toMatchObject({ code: 'SANDBOX_CRASHED', message: expect.stringContaining('no message') });
});

it('a handler that grabs memory is ended', async () => {
  const { call } = await givenSkill('export default () => { const all = []; for (;;) all.push(new Uint8Array(8e6).fill(1)); };');
  await expect(call({}, { signal: AbortSignal.timeout(15_000) })).rejects.toMatchObject({ code: 'SANDBOX_CRASHED' });
});
