import { describe, expect, it } from 'vitest';
import { toolCallFaults, toolCallRows } from '../../../support/toolcall-vectors.ts';

describe('what models really send', () => {
  it.each(toolCallRows.filter((row) => row.firm).map((row) => [row.id, row.why, row]))('%s: %s', (_id, _why, row) => {
    expect(toolCallFaults(row)).toEqual([]);
  });

  it.each(toolCallRows.filter((row) => !row.firm).map((row) => [row.id, row.why, row]))('%s is safe: %s', (_id, _why, row) => {
    expect(toolCallFaults(row)).toEqual([]);
  });

  it('the faults would be seen', () => {
    const [row] = toolCallRows.filter(({ firm, expect: { action, arguments: args } }) => firm && action === 'accept' && args);
    if (!row) throw new Error('no row');
    const wrong = { ...row.expect, arguments: { no_such_argument: 1 }, results: 9 };
    expect(toolCallFaults({ ...row, expect: wrong })).toHaveLength(2);
    expect(toolCallFaults({ ...row, expect: { action: 'reject', code: 'INVALID_ARGUMENTS' } })).toHaveLength(1);
    expect(toolCallFaults({ ...row, firm: false, expect: { ...wrong, action: 'ignore' } })).toHaveLength(2);
  });
});
