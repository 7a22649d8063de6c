import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { HandrailError } from '../../../../lib/core/errors.ts';
import type { ToolOutput } from '../../../../lib/core/hands/category.ts';
import { processResult } from '../../../../lib/core/hands/result.ts';
import { RESULT_BYTES } from '../../../../lib/core/limits.ts';
import { readFile } from '../../../../lib/tools/file/read-file.ts';
import { toolContext } from '../../../support/tool-context.ts';
import { givenWorkspaces, text } from '../../../support/workspace.ts';

async function given(files: Record<string, string | Uint8Array>) {
  const { workspaces, host } = await givenWorkspaces();
  const workspace = await workspaces.open(toolContext());
  for (const [path, data] of Object.entries(files)) await workspace.write(path, typeof data === 'string' ? text(data) : data, 'create');
  return { host, read: (args: Parameters<typeof readFile>[0], over = {}) => readFile(args, toolContext(over), { workspaces }) };
}

const shown = (output: ToolOutput) => processResult(output, { toolName: 'read_file', duration: 1, now: 2 }, RESULT_BYTES);

test('returns the text of one file as it is', async () => {
  const { read } = await given({ 'a/b.txt': 'Grüße\r\nline two\n' });
  expect(await read({ path: 'a/b.txt' })).toMatchObject({ text: 'Grüße\r\nline two\n' });
});

test('returns a range of lines with where it stands, the last line included', async () => {
  const { read } = await given({ 'a.txt': 'one\ntwo\nthree\nfour\n' });
  expect(await read({ path: 'a.txt', start_line: 2, end_line: 3 })).toMatchObject({ text: '(lines 2 to 3 of 4)\ntwo\nthree' });
  expect(await read({ path: 'a.txt', start_line: 4 })).toMatchObject({ text: '(lines 4 to 4 of 4)\nfour' });
  expect(await read({ path: 'a.txt', end_line: 99 })).toMatchObject({ text: '(lines 1 to 4 of 4)\none\ntwo\nthree\nfour' });
  await expect(read({ path: 'a.txt', start_line: 5 })).rejects.toThrow('has 4 lines');
  await expect(read({ path: 'a.txt', start_line: 3, end_line: 2 })).rejects.toMatchObject({ code: 'INVALID_ARGUMENTS' });
});

test('binary data comes as base64, and as text it is refused with that advice', async () => {
  const { read } = await given({ 'x.bin': Uint8Array.of(0xff, 0x00, 0xe9) });
  expect(await read({ path: 'x.bin', encoding: 'base64' })).toMatchObject({ text: '/wDp' });
  await expect(read({ path: 'x.bin' })).rejects.toMatchObject({
    code: 'INVALID_ARGUMENTS',
    suggestions: [expect.stringContaining('base64')],
  });
});

test('wants one path or several, and no range for several or for bytes', async () => {
  const { read } = await given({ a: 'x' });
  const wrong = [
    {},
    { path: 'a', paths: ['a'] },
    { paths: [] },
    { paths: ['a'], start_line: 1 },
    { path: 'a', encoding: 'base64', end_line: 1 },
    { path: 7 },
    { path: 'a', mode: 'x' },
  ];
  for (const args of wrong) await expect(read(args), JSON.stringify(args)).rejects.toMatchObject({ code: 'INVALID_ARGUMENTS' });
});

test('of several files those that can be read are returned, the others named with their reason', async () => {
  const { read, host } = await given({ 'a.log': 'alpha', 'c.log': 'gamma' });
  await symlink('a.log', join(host, 'link.log'));
  const result = shown(await read({ paths: ['a.log', 'b.log', 'c.log', 'link.log', '../../x'] }));
  expect(result.success).toBe(true);
  expect(result.data).toContain('2 of 5 succeeded');
  expect(result.data).toContain('== a.log ==\nalpha');
  expect(result.data).toContain('== c.log ==\ngamma');
  expect(result.partialFailure?.map(({ name, error }) => [name, error.split(':')[0]])).toEqual([
    ['b.log', 'FILE_NOT_FOUND'],
    ['link.log', 'PERMISSION_DENIED'],
    ['../../x', 'PERMISSION_DENIED'],
  ]);
});

test('several files that all fail are one failure', async () => {
  const { read } = await given({});
  expect(shown(await read({ paths: ['a', 'b'] })).error?.code).toBe('ALL_FAILED');
});

test('a long file does not push the others out of a shared result', async () => {
  const { read } = await given({ 'long.txt': 'ä'.repeat(200_000), 'short.txt': 'the end' });
  const result = shown(await read({ paths: ['long.txt', 'short.txt'] }));
  expect(result.data).toContain('read this file alone');
  expect(result.data).toContain('the end');
  expect(result.data).not.toContain('\ufffd');
  expect(result.metadata.truncated).toBe(false);
});

test('stops between files when its time is over', async () => {
  const { read } = await given({ a: 'x' });
  await expect(read({ paths: ['a'] }, { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'TIMEOUT' });
});

test('a storage that does not answer fails the whole call, so that it can be retried', async () => {
  const down = async () => {
    throw new HandrailError('SERVICE_UNAVAILABLE', 'down');
  };
  const workspaces = { open: async () => ({ read: down, write: down, list: down, remove: down }), find: down, erase: down };
  await expect(readFile({ paths: ['a', 'b'] }, toolContext(), { workspaces })).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
});
