import { describe, expect, test } from 'vitest';
import { pathFaults, pathRows } from '../support/path-vectors.ts';

describe.each(['descriptor', 'verified'] as const)('hostile paths against the file tools, %s access', (access) => {
  test.skipIf(access === 'descriptor' && process.platform !== 'linux').each(pathRows)('$id $class, $op: $why', async (row) => {
    expect(await pathFaults(row, access)).toEqual([]);
  });
});

test('the faults would be seen', async () => {
  const [row] = pathRows.filter(({ outcome, op }) => outcome === 'ok' && op === 'read');
  if (!row) throw new Error('no row');
  expect(await pathFaults({ ...row, firm: true, outcome: 'denied', must_not_contain: ['text'] }, 'verified')).toEqual([
    expect.stringContaining('it ended as ok, not as denied'),
    'what must not be in the result was in it',
  ]);
});
