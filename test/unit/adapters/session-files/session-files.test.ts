import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createWorkspaces } from '../../../../lib/adapters/sandbox/workspace.ts';
import { lambdaSessionFiles } from '../../../../lib/adapters/session-files/lambda.ts';
import { noFiles } from '../../../../lib/adapters/session-files/none.ts';
import { carryOut, isFileOperation } from '../../../../lib/adapters/session-files/operation.ts';
import { workspaceSessionFiles } from '../../../../lib/adapters/session-files/workspace.ts';
import { FILE_TRANSFER_BYTES } from '../../../../lib/core/limits.ts';
import type { SessionFiles } from '../../../../lib/core/ports/session-files.ts';
import { systemRandom } from '../../../../lib/runtime/system.ts';
import { type LoopbackServer, loopbackServer, type Reply } from '../../../support/loopback-server.ts';

let root: string;
let server: LoopbackServer | undefined;
const SESSION = { tenant: 'acme', sessionId: 's-1' };
const OTHER = { tenant: 'acme', sessionId: 's-2' };

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'handrail-files-'));
});
afterEach(async () => {
  await server?.close();
  server = undefined;
  await rm(root, { recursive: true });
});

const direct = async (): Promise<SessionFiles> =>
  workspaceSessionFiles(await createWorkspaces({ root, random: systemRandom, now: () => Date.now() }));

/** The Lambda service: invokes the file function in this process. `reply` answers in its place. */
async function throughLambda(reply?: Reply): Promise<SessionFiles> {
  const files = await direct();
  const answers = new Map<string, string>();
  server = await loopbackServer((_count, { body }) => reply ?? { status: 200, body: answers.get(body) ?? '' });
  const client = new LambdaClient({
    region: 'eu-west-1',
    endpoint: server.url,
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    maxAttempts: 1,
  });
  const send = client.send.bind(client);
  client.send = (async (command: { input: { Payload: Uint8Array } }) => {
    const event = Buffer.from(command.input.Payload).toString();
    answers.set(event, JSON.stringify(await carryOut(files, JSON.parse(event))));
    return send(command as never);
  }) as never;
  return lambdaSessionFiles(client, 'handrail-tool-file');
}

describe.each([
  ['on a laptop', direct],
  ['through the file function', () => throughLambda()],
])('files of a session %s', (_where, make) => {
  it('are written, listed, read and erased, byte by byte', async () => {
    const files = await make();
    const every = Uint8Array.from({ length: 256 }, (_, byte) => byte);
    expect(await files.write(SESSION, 'a/b.bin', every)).toEqual({ bytes: 256, created: true });
    expect(await files.write(SESSION, 'a/b.bin', every)).toEqual({ bytes: 256, created: false });
    expect(Buffer.from(await files.read(SESSION, 'a/b.bin')).equals(Buffer.from(every))).toBe(true);
    expect((await files.list(SESSION, '.', { depth: 5, limit: 10 })).map(({ path }) => path)).toEqual(['a', 'a/b.bin']);
    expect(await files.list(OTHER, '.', { depth: 5, limit: 10 })).toEqual([]);
    expect(await files.erase(SESSION)).toBe(true);
    expect(await files.erase(SESSION)).toBe(false);
    expect(await readdir(join(root, 'acme'))).not.toContain('s-1');
  });

  it.each(['../s-2/secret', '/etc/passwd', '../../acme/s-2/secret', 'a/../../s-2/secret', 'link/secret', '..', 'a\0b'])(
    'cannot be reached outside of it: %s',
    async (path) => {
      const files = await make();
      await files.write(OTHER, 'secret', Buffer.from('x'));
      await mkdir(join(root, 'acme', 's-1'));
      await symlink(join(root, 'acme', 's-2'), join(root, 'acme', 's-1', 'link'));
      const codes = expect.stringMatching(/^(?:PERMISSION_DENIED|INVALID_ARGUMENTS|FILE_NOT_FOUND)$/);
      await expect(files.read(SESSION, path)).rejects.toMatchObject({ code: codes, message: expect.not.stringContaining(root) });
      await expect(files.write(SESSION, path, Buffer.from('y'))).rejects.toMatchObject({ code: codes });
      expect(Buffer.from(await files.read(OTHER, 'secret')).toString()).toBe('x');
    },
  );

  it('that a link leads out of are erased without what it leads to', async () => {
    const files = await make();
    await mkdir(join(root, 'outside'));
    await writeFile(join(root, 'outside', 'kept'), 'x');
    await files.write(SESSION, 'a', Buffer.from('x'));
    await symlink(join(root, 'outside'), join(root, 'acme', 's-1', 'link'));
    await files.erase(SESSION);
    expect(await readdir(join(root, 'outside'))).toEqual(['kept']);
  });

  it('are not there before they are written, and looking makes no directory', async () => {
    const files = await make();
    expect(await files.list(SESSION, '.', { depth: 5, limit: 10 })).toEqual([]);
    for (const look of [files.list(SESSION, 'a', { depth: 1, limit: 1 }), files.read(SESSION, 'a')])
      await expect(look).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' });
    expect(await readdir(root)).toEqual([]);
  });

  it('of over 4 MB are refused both ways', async () => {
    const files = await make();
    await expect(files.write(SESSION, 'large', Buffer.alloc(FILE_TRANSFER_BYTES + 1))).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
    await files.write(SESSION, 'small', Buffer.from('x'));
    await writeFile(join(root, 'acme', 's-1', 'large'), Buffer.alloc(FILE_TRANSFER_BYTES + 1));
    await expect(files.read(SESSION, 'large')).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
  });
});

describe('the file function', () => {
  it('takes operations for operations and calls for calls, whatever an agent puts into a call', () => {
    expect(isFileOperation({ fileOperation: 'anything' })).toBe(true);
    expect(isFileOperation({ callId: 'c1-0', tool: 'read_file', arguments: { fileOperation: { kind: 'erase' } } })).toBe(false);
  });

  it.each([
    { kind: 'read', tenant: '../acme', sessionId: 's-1', path: 'a' },
    { kind: 'read', tenant: 'acme', sessionId: 's/1', path: 'a' },
    { kind: 'chmod', tenant: 'acme', sessionId: 's-1', path: 'a' },
    { kind: 'write', tenant: 'acme', sessionId: 's-1', path: 'a', data: 'not base 64!' },
    { kind: 'erase', tenant: 'acme', sessionId: 's-1', more: true },
    'erase',
  ])('refuses an operation that is none: %j', async (fileOperation) => {
    expect(await carryOut(await direct(), { fileOperation })).toMatchObject({ refused: { code: 'INVALID_ARGUMENTS' } });
  });

  it('that fails, or answers something else, is an error and no file', async () => {
    const crashed = await throughLambda({ status: 200, headers: { 'x-amz-function-error': 'Unhandled' }, body: '{"errorMessage":"x"}' });
    await expect(crashed.read(SESSION, 'a')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    await server?.close();
    const mixed = await throughLambda({ status: 200, body: '{"erased":true}' });
    await expect(mixed.read(SESSION, 'a')).rejects.toMatchObject({ code: 'INTERNAL' });
  });
});

it('a deployment without workspaces says so, and has nothing to erase', async () => {
  await expect(noFiles.read(SESSION, 'a')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  expect(await noFiles.erase(SESSION)).toBe(false);
});
