import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ssrfFaults, ssrfRig, ssrfRows } from '../support/ssrf-vectors.ts';

let rig: Awaited<ReturnType<typeof ssrfRig>>;
beforeAll(async () => {
  rig = await ssrfRig();
});
afterAll(() => rig.close());

describe('every row', () => {
  test.each(ssrfRows.map((row) => [row.id, row.class, row] as const))('%s %s', async (_id, _class, row) => {
    expect({ ...row, faults: ssrfFaults(row, await rig.run(row)) }).toEqual({ ...row, faults: [] });
  });

  test('every refusal is one that the model can tell from a failure', async () => {
    const codes = new Set<string | undefined>();
    for (const row of ssrfRows.filter((candidate) => candidate.expect === 'deny')) codes.add((await rig.run(row)).code);
    expect([...codes].filter((code) => code !== undefined).sort()).toEqual(['INVALID_ARGUMENTS', 'NETWORK_ERROR', 'PERMISSION_DENIED']);
  });

  test('the faults would be seen', async () => {
    const [row] = ssrfRows.filter(({ expect: wanted, redirect_to }) => wanted === 'deny' && redirect_to === undefined);
    if (!row) throw new Error('no row');
    const broken = { reached: true, dialled: [['127.0.0.1']], lookedUp: ['a', 'a'], begun: 2 };
    expect(ssrfFaults({ ...row, policy: 'allowlist', allow: [] }, broken)).toEqual([
      'an address was let through that is not public',
      'a connection was begun past the check',
      'a host was looked up that is not listed',
      'a connection was begun',
      'it was reached',
    ]);
  });
});
