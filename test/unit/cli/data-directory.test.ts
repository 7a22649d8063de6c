import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createCli } from '../../../lib/cli/cli.ts';
import { runIdFrom } from '../../../lib/core/ids.ts';
import { fakeContext } from './fake-context.ts';

const RUN = runIdFrom(new Uint8Array(20).fill(1));

let cwd: string;
/** Where temporary files go meanwhile. */
let scratch: string;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'handrail-cwd-'));
  scratch = await mkdtemp(join(tmpdir(), 'handrail-tmp-'));
  vi.stubEnv('TMPDIR', scratch);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(cwd, { recursive: true });
  await rm(scratch, { recursive: true });
});

async function handrail(...args: string[]) {
  const context = fakeContext({ cwd, env: { HANDRAIL_MODEL: 'demo' } });
  await createCli(context).parseAsync(['node', 'handrail', ...args]);
  return { code: context.code(), out: context.out(), err: context.err() };
}

describe('a command that only reads leaves nothing where there is no server and no data', () => {
  test.each([
    ['tools', 0],
    ['runs', 0],
    ['approvals', 0],
    ['policy', 0],
    ['policy show --history', 0],
    ['health', 1],
    [`runs show ${RUN}`, 1],
    [`runs events ${RUN}`, 1],
    [`export ${RUN}`, 1],
    ['sessions show s-1', 1],
    ['skills check', 0],
  ])('%s', async (line, code) => {
    expect((await handrail(...line.split(' '))).code).toBe(code);
    expect([await readdir(cwd), await readdir(scratch)]).toEqual([[], []]);
  });

  test('it says so, and another command that writes makes the directory', async () => {
    expect((await handrail('runs')).err).toContain(`there is no data directory ${join(cwd, '.handrail')} yet`);
    expect((await handrail('policy', 'set', 'write_file', 'deny')).code).toBe(0);
    expect(existsSync(join(cwd, '.handrail'))).toBe(true);
    const { out, err } = await handrail('policy', '--json');
    expect([JSON.parse(out).guard, err]).toEqual([{ tool_policy: { write_file: 'deny' } }, '']);
  });
});
