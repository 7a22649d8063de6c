import { expect, test } from 'vitest';
import { MEMORY } from '../../../../lib/core/limits.ts';
import { memoryRead } from '../../../../lib/tools/memory/memory-read.ts';
import { memoryWrite } from '../../../../lib/tools/memory/memory-write.ts';
import { memoryStore } from '../../../support/memory-store.ts';
import { toolContext } from '../../../support/tool-context.ts';

function given() {
  const memory = memoryStore();
  return {
    read: (args: Parameters<typeof memoryRead>[0], over = {}) => memoryRead(args, toolContext(over), { memory }),
    write: (args: Parameters<typeof memoryWrite>[0], over = {}) => memoryWrite(args, toolContext(over), { memory }),
  };
}

const entry = (key: string, value: string) => ({ key, value, updatedAt: '2026-01-02T00:00:00.000Z' });

test('what is written is read by its key, replaced, and forgotten by null', async () => {
  const { read, write } = given();
  expect(await write({ key: 'user.language', value: 'German' })).toEqual({ json: { key: 'user.language', bytes: 6 } });
  await write({ key: 'user.language', value: 'Français' });
  expect(await read({ key: 'user.language' })).toEqual({ json: { entries: [entry('user.language', 'Français')] } });
  expect(await write({ key: 'user.language', value: null })).toEqual({ json: { key: 'user.language', forgotten: true } });
  expect(await write({ key: 'user.language', value: null })).toEqual({ json: { key: 'user.language', forgotten: false } });
  expect(await read({ key: 'user.language' })).toEqual({ json: { entries: [] } });
});

test('a search goes by prefix and text, in pages', async () => {
  const { read, write } = given();
  for (const [key, value] of [
    ['a.1', 'red'],
    ['a.2', 'blue'],
    ['a.3', 'red'],
    ['b.1', 'red'],
  ] as const)
    await write({ key, value });
  expect(await read({ prefix: 'a.', text: 'red' })).toEqual({ json: { entries: [entry('a.1', 'red'), entry('a.3', 'red')] } });
  expect(await read({ limit: 2 })).toEqual({ json: { entries: [entry('a.1', 'red'), entry('a.2', 'blue')], cursor: 'a.2' } });
  expect(await read({ limit: 2, cursor: 'a.2' })).toEqual({ json: { entries: [entry('a.3', 'red'), entry('b.1', 'red')] } });
});

test('tenants and namespaces do not see each other, whatever the arguments say', async () => {
  const { read, write } = given();
  await write({ key: 'k', value: 'mine' });
  for (const over of [{ tenant: 'other' }, { namespace: 'skill_runtime.x' }])
    expect(await read({}, over)).toEqual({ json: { entries: [] } });
  await expect(read({ key: 'k', tenant: 'acme' }, { tenant: 'other' })).rejects.toMatchObject({ code: 'INVALID_ARGUMENTS' });
  expect(await read({ key: 'k' }, { sessionId: 's2' }), 'sessions of a tenant share it').toEqual({
    json: { entries: [entry('k', 'mine')] },
  });
});

test('a skill or a sub-agent has a memory of its own in each run', async () => {
  const { read, write } = given();
  const frame = { namespace: 'skill_runtime.note_c1-0', runId: 'r-00000000000000000000000001' };
  await write({ key: 'k', value: 'own' }, frame);
  expect(await read({ key: 'k' }, frame)).toEqual({ json: { entries: [entry('k', 'own')] } });
  expect(await read({ key: 'k' }, { ...frame, runId: 'r-00000000000000000000000002' })).toEqual({ json: { entries: [] } });
  expect(await read({ key: 'k' })).toEqual({ json: { entries: [] } });
});

test('a value may be as long as the limit in bytes, and no longer', async () => {
  const { write } = given();
  expect(await write({ key: 'k', value: 'é'.repeat(MEMORY.valueBytes / 2) })).toMatchObject({ json: { bytes: MEMORY.valueBytes } });
  await expect(write({ key: 'k', value: `${'é'.repeat(MEMORY.valueBytes / 2)}x` })).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
});

test('a missing value does not forget, and odd keys and values are refused', async () => {
  const { read, write } = given();
  const wrong = [
    { key: 'k' },
    { key: '', value: 'x' },
    { key: 'a\u0000b', value: 'x' },
    { key: '\ud800', value: 'x' },
    { key: 'k'.repeat(257), value: 'x' },
    { key: 'k', value: '\udc00' },
    { key: 'k', value: 7 },
  ];
  for (const args of wrong) await expect(write(args), JSON.stringify(args)).rejects.toMatchObject({ code: 'INVALID_ARGUMENTS' });
  await expect(read({ key: 'k', prefix: 'k' })).rejects.toMatchObject({ code: 'INVALID_ARGUMENTS' });
  await expect(read({ limit: 0 })).rejects.toMatchObject({ code: 'INVALID_ARGUMENTS', field: 'limit' });
});
