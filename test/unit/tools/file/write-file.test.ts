import { expect, test } from 'vitest';
import { writeFile } from '../../../../lib/tools/file/write-file.ts';
import { toolContext } from '../../../support/tool-context.ts';
import { givenWorkspaces, readText } from '../../../support/workspace.ts';

async function given() {
  const { workspaces } = await givenWorkspaces();
  const workspace = await workspaces.open(toolContext());
  return { workspace, write: (args: Parameters<typeof writeFile>[0]) => writeFile(args, toolContext(), { workspaces }) };
}

test('overwrites unless told otherwise, and says what it did', async () => {
  const { workspace, write } = await given();
  expect(await write({ path: 'a/b.txt', content: 'é' })).toEqual({ json: { path: 'a/b.txt', bytes: 2, created: true } });
  expect(await write({ path: 'a/b.txt', content: 'new' })).toEqual({ json: { path: 'a/b.txt', bytes: 3, created: false } });
  expect(await write({ path: 'a/b.txt', content: '!', mode: 'append' })).toEqual({ json: { path: 'a/b.txt', bytes: 4, created: false } });
  await expect(write({ path: 'a/b.txt', content: 'x', mode: 'create' })).rejects.toMatchObject({ code: 'INVALID_ARGUMENTS' });
  expect(await readText(workspace, 'a/b.txt')).toBe('new!');
});

test('writes bytes from base64, with line breaks in it or not, and refuses what is not base64', async () => {
  const { workspace, write } = await given();
  await write({ path: 'x.bin', content: '/wDp\nAQ==', encoding: 'base64' });
  expect([...(await workspace.read('x.bin'))]).toEqual([0xff, 0x00, 0xe9, 0x01]);
  for (const content of ['not base64!', '/wD', 'a']) {
    await expect(write({ path: 'x.bin', content, encoding: 'base64' }), content).rejects.toMatchObject({ code: 'INVALID_ARGUMENTS' });
  }
});

test('refuses text that could not come back the same', async () => {
  const { write } = await given();
  await expect(write({ path: 'a', content: 'half \ud83d pair' })).rejects.toMatchObject({ code: 'INVALID_ARGUMENTS' });
});

test('an argument that is missing, unknown or of the wrong type is named', async () => {
  const { write } = await given();
  await expect(write({ path: 'a' })).rejects.toMatchObject({ code: 'INVALID_ARGUMENTS', field: 'content' });
  await expect(write({ path: 'a', content: 'x', mode: 'replace' })).rejects.toMatchObject({ field: 'mode' });
  await expect(write({ path: 'a', content: 'x', force: true })).rejects.toThrow('force');
});
