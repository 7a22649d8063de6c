import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import * as z from 'zod';
import { findAssets } from '../../lib/adapters/sandbox/assets.ts';
import { runChild } from '../../lib/adapters/sandbox/child-process.ts';
import { RUNNER_LIMITS } from '../../lib/adapters/sandbox/runner-limits.ts';
import { PATIENCE_MS } from '../support/sandbox.ts';
import { freshDirectory } from '../support/workspace.ts';

/**
 * The second layer: suppose an interpreter had a hole and the script ran as JavaScript in the child. The probe below is
 * that script; it runs as a child's own code, with all the flags and the guard of a real one.
 */
const PROBE = `
import { createRequire } from 'node:module';
const require = createRequire(import.meta.url);
const outcomes = {};
const attempt = async (name, work) => {
  try { await work(); outcomes[name] = 'OPEN'; } catch (error) { outcomes[name] = 'refused'; }
};
const settle = (emitter) => new Promise((resolve, reject) => { emitter.once('connect', resolve); emitter.once('listening', resolve); emitter.once('error', reject); });
const PORT = __PORT__;
const fs = require('fs'); const net = require('net'); const dns = require('dns');
await attempt('read /etc/passwd', () => fs.readFileSync('/etc/passwd'));
await attempt('read own environ', () => fs.readFileSync('/proc/self/environ'));
await attempt('read parent environ', () => fs.readFileSync('/proc/' + process.ppid + '/environ'));
await attempt('list /', () => fs.readdirSync('/'));
await attempt('write /tmp', () => fs.writeFileSync('/tmp/handrail-probe', 'x'));
await attempt('write beside itself', () => fs.writeFileSync(new URL('x', import.meta.url), 'x'));
await attempt('make a link', () => fs.symlinkSync('/etc/passwd', new URL('l', import.meta.url)));
await attempt('child process', () => require('child_process').execFileSync('/bin/true'));
await attempt('fork', () => settle(require('child_process').fork('/bin/true')));
await attempt('worker', () => { const w = new (require('worker_threads').Worker)('', { eval: true, execArgv: [] }); return new Promise((resolve, reject) => { w.once('online', resolve); w.once('error', reject); }); });
await attempt('add-on', () => process.dlopen({ exports: {} }, '/nonexistent.node'));
await attempt('binding', () => process.binding('tcp_wrap'));
await attempt('wasi', () => new (require('wasi').WASI)({ version: 'preview1', preopens: { '/': '/' } }));
await attempt('sqlite', () => require('node:sqlite'));
await attempt('inspector', () => require('inspector').open(0));
await attempt('kill parent', () => process.kill(process.ppid, 0));
await attempt('_kill parent', () => { if (process._kill(process.ppid, 0) !== 0) throw 0; });
await attempt('net.connect', () => settle(net.connect(PORT, '127.0.0.1')));
await attempt('new Socket', () => settle(new net.Socket().connect(PORT, '127.0.0.1')));
await attempt('Stream', () => settle(new net.Stream().connect(PORT, '127.0.0.1')));
await attempt('listen', () => settle(net.createServer().listen(0)));
await attempt('Server.listen', () => settle(new net.Server().listen(0)));
await attempt('http.get', () => new Promise((resolve, reject) => require('http').get('http://127.0.0.1:' + PORT, resolve).once('error', reject)));
await attempt('https', () => new Promise((resolve, reject) => require('https').get('https://127.0.0.1:' + PORT, resolve).once('error', reject)));
await attempt('http2', () => settle(require('http2').connect('http://127.0.0.1:' + PORT)));
await attempt('tls', () => settle(require('tls').connect(PORT, '127.0.0.1')));
await attempt('fetch', () => fetch('http://127.0.0.1:' + PORT));
await attempt('import net', async () => settle((await import('node:net')).connect(PORT, '127.0.0.1')));
await attempt('getBuiltinModule', () => settle(process.getBuiltinModule('net').connect(PORT, '127.0.0.1')));
await attempt('WebSocket', () => new WebSocket('ws://127.0.0.1:' + PORT));
await attempt('http.WebSocket', () => new Promise((resolve, reject) => Object.assign(new (require('http').WebSocket)('ws://127.0.0.1:' + PORT), { onopen: resolve, onerror: reject })));
await attempt('dgram', () => new Promise((resolve, reject) => require('dgram').createSocket('udp4').send('x', PORT, '127.0.0.1', (error) => (error ? reject(error) : resolve()))));
await attempt('dns.lookup', () => new Promise((resolve, reject) => dns.lookup('localhost', (error) => (error ? reject(error) : resolve()))));
await attempt('dns.promises', () => dns.promises.resolve4('localhost'));
await attempt('dns.Resolver', () => new dns.Resolver().resolve4('localhost', () => {}));
fs.writeSync(1, JSON.stringify({ outcomes, env: process.env, argv: process.argv }));
process.exit(0);
`;

const reportSchema = z.object({ outcomes: z.record(z.string(), z.string()), env: z.record(z.string(), z.string()) });

test('JavaScript in the child reaches no file, process, network or signal', { timeout: PATIENCE_MS }, async () => {
  // Given a server that counts who connects, a parent with credentials, and the probe as a child's code
  let connections = 0;
  const server = createServer().on('connection', () => connections++);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'CANARY');
  vi.stubEnv('NODE_OPTIONS', '--title=CANARY');
  onTestFinished(() => void vi.unstubAllEnvs());
  const directory = await freshDirectory();
  const probe = join(directory, 'probe.mjs');
  const port = z.object({ port: z.int() }).parse(server.address()).port;
  await writeFile(probe, PROBE.replace('__PORT__', String(port)));
  const found = findAssets();

  // When it runs
  const { stdout, stderr } = await runChild({
    assets: { ...found, readable: [...found.readable, directory] },
    entry: probe,
    message: [],
    limits: RUNNER_LIMITS,
    timeoutMs: PATIENCE_MS,
    signal: new AbortController().signal,
  });

  // Then all it tried was refused, and it knows nothing of its parent
  const report = reportSchema.parse(JSON.parse(stdout.text() || JSON.stringify(stderr.text())));
  expect(Object.keys(report.outcomes).length).toBeGreaterThan(30);
  expect(Object.entries(report.outcomes).filter(([, outcome]) => outcome !== 'refused')).toEqual([]);
  expect(Object.keys(report.env).sort()).toEqual(expect.not.arrayContaining(['AWS_SECRET_ACCESS_KEY', 'NODE_OPTIONS', 'HOME', 'USER']));
  expect(connections).toBe(0);
});
