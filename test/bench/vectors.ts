import { pathFaults, pathRows } from '../support/path-vectors.ts';
import { checkSkillVectors } from '../support/skill-vectors.ts';
import { ssrfFaults, ssrfRig, ssrfRows } from '../support/ssrf-vectors.ts';
import { toolCallFaults, toolCallRows } from '../support/toolcall-vectors.ts';

/** Rows of a set of vectors that come out as they should. */
export interface VectorFigures {
  readonly passed: number;
  readonly total: number;
  /** Of those that any sound runtime must get right (target 0). */
  readonly firmFailed: number;
}

/** By the very functions that the tests judge by. */
export async function measureVectors(): Promise<Record<'ssrf' | 'paths' | 'toolcalls', VectorFigures>> {
  return { ssrf: await measureSsrf(), paths: await measurePaths(), toolcalls: measureToolCalls() };
}

async function measureSsrf(): Promise<VectorFigures> {
  const rig = await ssrfRig();
  try {
    return await count(ssrfRows, async (row) => ssrfFaults(row, await rig.run(row)).length === 0);
  } finally {
    await rig.close();
  }
}

/** By the access that this system's workspaces use. */
function measurePaths(): Promise<VectorFigures> {
  const access = process.platform === 'linux' ? 'descriptor' : 'verified';
  return count(pathRows, async (row) => (await pathFaults(row, access)).length === 0);
}

function measureToolCalls(): VectorFigures {
  return tally(toolCallRows.map((row) => ({ firm: row.firm, good: toolCallFaults(row).length === 0 })));
}

/** A row that is policy counts when it keeps the invariants and comes out as the row calls a good choice. */
export function measureSkillVectors(): VectorFigures {
  return tally(
    checkSkillVectors().map(({ row, outcome, broken }) => ({
      firm: row.firm, // Of the others the set asks for its invariants; which outcomes differ, and why, stands in the test.
      good: broken.length === 0 && (!row.firm || outcome === row.expected),
    })),
  );
}

async function count<Row extends { readonly firm: boolean }>(
  rows: readonly Row[],
  holds: (row: Row) => Promise<boolean>,
): Promise<VectorFigures> {
  const judged: { firm: boolean; good: boolean }[] = [];
  for (const row of rows) judged.push({ firm: row.firm, good: await holds(row) });
  return tally(judged);
}

function tally(rows: readonly { readonly firm: boolean; readonly good: boolean }[]): VectorFigures {
  return {
    passed: rows.filter(({ good }) => good).length,
    total: rows.length,
    firmFailed: rows.filter(({ firm, good }) => firm && !good).length,
  };
}
