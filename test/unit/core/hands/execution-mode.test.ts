import { describe, expect, it } from 'vitest';
import type { PreviousResult } from '../../../../lib/core/hands/call.ts';
import { planStages, previousResultsFor, resultBudget, splitStage } from '../../../../lib/core/hands/execution-mode.ts';
import { jsonBytes } from '../../../../lib/core/json.ts';
import { STAGE_BYTES } from '../../../../lib/core/limits.ts';

const call = (callId: string, name: string, more: { parallelSafe?: boolean; after?: string[] } = {}) => ({
  callId,
  definition: { name, parallelSafe: more.parallelSafe ?? true, after: more.after ?? [] },
});
const search = call('c1-1', 'web_search');
const fetch = call('c1-0', 'web_fetch', { after: ['web_search'] });
const read = (n: number) => call(`c1-${n}`, 'read_file');
const write = call('c1-9', 'write_file', { parallelSafe: false });
const push = call('c1-5', 'run_bt_skill');
const pushes = ({ definition }: { definition: { name: string } }): boolean => definition.name === 'run_bt_skill';

describe('stages of a batch', () => {
  it.each([
    ['auto, one call', 'auto', [read(0)], [0]],
    ['auto, all safe', 'auto', [read(0), read(1), read(2)], [0, 0, 0]],
    ['auto, one not safe', 'auto', [read(0), write, read(2)], [0, 1, 2]],
    ['auto, an edge, asked for the wrong way round', 'auto', [fetch, search, read(2)], [1, 0, 2]],
    ['auto, an edge to a tool that is not there', 'auto', [fetch, read(1)], [0, 0]],
    ['serial', 'serial', [read(0), read(1)], [0, 1]],
    ['parallel, not safe all the same', 'parallel', [read(0), write], [0, 0]],
    ['parallel, an edge', 'parallel', [fetch, search, read(2)], [1, 0, 0]],
    ['nothing', 'auto', [], []],
  ] as const)('%s', (_name, mode, calls, stages) => {
    expect(planStages(calls, mode)).toEqual(stages);
  });

  it.each(['auto', 'parallel'] as const)('%s: a call that pushes a frame stands alone, in order', (mode) => {
    expect(planStages([read(0), read(1), push, read(3), read(4)], mode, pushes)).toEqual([0, 0, 1, 2, 2]);
    expect(planStages([push, read(1)], mode, pushes)).toEqual([0, 1]);
    expect(planStages([push, push], mode, pushes)).toEqual([0, 1]);
  });

  it('an edge across a call that pushes a frame is kept', () => {
    const stages = planStages([fetch, push, search], 'parallel', pushes);
    expect(stages[0]).toBeGreaterThan(stages[2] ?? 99);
    expect(new Set(stages).size).toBe(3);
  });

  it('names the calls of a circle, and only those', () => {
    const a = call('c1-0', 'a', { after: ['b'] });
    const b = call('c1-1', 'b', { after: ['c'] });
    const c = call('c1-2', 'c', { after: ['a'] });
    const d = call('c1-3', 'd', { after: ['a'] });
    expect(() => planStages([d, a, b, c], 'auto')).toThrow('c1-0 (a), c1-1 (b), c1-2 (c);');
    expect(() => planStages([d, a, b, c], 'auto')).not.toThrow(/c1-3/);
  });

  it('a tool that comes after itself is no circle', () => {
    const self = (n: number) => call(`c1-${n}`, 'self', { after: ['self'] });
    expect(planStages([self(0), self(1), self(2)], 'parallel')).toEqual([0, 1, 2]);
  });
});

const result = (callId: string, tool: string, data: string): PreviousResult => ({
  callId,
  tool,
  result: { success: true, data, metadata: { toolName: tool, duration: 1, truncated: false, timestamp: 1 } },
});

describe('previous results', () => {
  it('are those of the same category or of a tool the definition names', () => {
    const earlier = [
      { ...result('c1-0', 'web_search', 's'), category: 'network' },
      { ...result('c1-1', 'read_file', 'r'), category: 'file' },
      { ...result('c1-2', 'memory_read', 'm'), category: 'memory' },
    ];
    const tools = (definition: { category: string; after: string[] }) => previousResultsFor(definition, earlier).map(({ tool }) => tool);
    expect(tools({ category: 'network', after: [] })).toEqual(['web_search']);
    expect(tools({ category: 'file', after: ['memory_read'] })).toEqual(['read_file', 'memory_read']);
    expect(previousResultsFor({ category: 'file', after: [] }, earlier)).toEqual([result('c1-1', 'read_file', 'r')]);
  });
});

describe('bytes of a stage', () => {
  it('results share 200 KiB, 50 KiB each at most', () => {
    expect([1, 4, 5, 10].map(resultBudget)).toEqual([51_200, 51_200, 40_960, 20_480]);
  });

  it('splits in order, and loses no call', () => {
    const calls = Array.from({ length: 7 }, (_, n) => ({ callId: `c1-${n}`, arguments: { text: '€'.repeat(20_000) } }));
    const stages = splitStage(calls);
    expect(stages.flat()).toEqual(calls);
    expect(stages.map((stage) => stage.length)).toEqual([3, 3, 1]);
    for (const stage of stages) expect(jsonBytes(stage.map((item) => item.arguments))).toBeLessThanOrEqual(STAGE_BYTES);
  });

  it('a call that is too large alone keeps the newest of its previous results, the oldest of these cut with a note', () => {
    const previousResults = [0, 1, 2, 3].map((n) => result(`c1-${n}`, 'read_file', `${n}`.repeat(50_000)));
    const [stage] = splitStage([{ arguments: { text: 'x'.repeat(100_000) }, previousResults }]);
    const kept = stage?.[0]?.previousResults ?? [];
    expect(kept.map(({ callId }) => callId)).toEqual(['c1-1', 'c1-2', 'c1-3']);
    expect(kept.at(-1)).toEqual(previousResults.at(-1));
    expect(kept[0]?.result.data).toMatch(/\(cut: it did not fit/);
    expect(kept[0]?.result.metadata.truncated).toBe(true);
    expect(jsonBytes(stage)).toBeLessThanOrEqual(STAGE_BYTES + 200);
  });
});
