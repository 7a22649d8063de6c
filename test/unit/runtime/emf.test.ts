import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { emfLines } from '../../../lib/runtime/emf.ts';

const context = { deployment: 'ours', at: 1_800_000_000_000, fields: { run: 'r-1', tenant: 't1', step: 4 } };
/** The schema of the format, as CloudWatch checks it. */
const lineSchema = z.looseObject({
  _aws: z.strictObject({
    Timestamp: z.int(),
    CloudWatchMetrics: z.array(
      z.strictObject({
        Namespace: z.string().min(1).max(255),
        Dimensions: z.array(z.array(z.string()).min(1).max(30)).min(1),
        Metrics: z
          .array(z.strictObject({ Name: z.string(), Unit: z.enum(['Count', 'Milliseconds', 'None']) }))
          .min(1)
          .max(100),
      }),
    ),
  }),
});
const parsed = (line: string) => lineSchema.parse(JSON.parse(line));

describe('lines of the Embedded Metric Format', () => {
  it('are none for no measure', () => {
    expect(emfLines([], context)).toEqual([]);
  });

  it('put every metric that is not split into one line, with what it is about beside it', () => {
    const lines = emfLines(
      [
        { name: 'Iterations', value: 1 },
        { name: 'CostUsd', value: 0.25 },
      ],
      context,
    );
    expect(lines.map(parsed)).toMatchObject([
      {
        _aws: { Timestamp: context.at, CloudWatchMetrics: [{ Namespace: 'Handrail', Dimensions: [['Deployment']] }] },
        Deployment: 'ours',
        Iterations: 1,
        CostUsd: 0.25,
        run: 'r-1',
        tenant: 't1',
        step: 4,
      },
    ]);
  });

  it('give each value of a split its line, and the sum over all by the deployment alone', () => {
    const lines = emfLines(
      [
        { name: 'ToolCalls', value: 2, of: 'OK' },
        { name: 'ToolCalls', value: 1, of: 'TIMEOUT' },
      ],
      context,
    ).map(parsed);
    expect(lines.map((line) => [line['Code'], line['ToolCalls']])).toEqual([
      ['OK', 2],
      ['TIMEOUT', 1],
    ]);
    for (const line of lines) expect(line._aws.CloudWatchMetrics[0]?.Dimensions).toEqual([['Deployment'], ['Deployment', 'Code']]);
  });

  it('carry a metric measured twice as a list, named once', () => {
    const [line] = emfLines(
      [
        { name: 'ApprovalDecisionTime', value: 5 },
        { name: 'ApprovalDecisionTime', value: 7 },
      ],
      context,
    ).map(parsed);
    expect(line?.['ApprovalDecisionTime']).toEqual([5, 7]);
    expect(line?._aws.CloudWatchMetrics[0]?.Metrics).toEqual([{ Name: 'ApprovalDecisionTime', Unit: 'Milliseconds' }]);
  });

  it('carry at most 100 values of a metric each, and lose none', () => {
    const decided = Array.from({ length: 128 }, (_, n) => [
      { name: 'ApprovalDecisionTime', value: n } as const,
      { name: 'Approvals', value: 1, of: 'approved' } as const,
    ]).flat();
    const lines = emfLines([...decided, { name: 'Iterations', value: 7 }], context).map(parsed);
    const values = (name: string) => lines.map((line) => [line[name] ?? []].flat());
    for (const name of ['ApprovalDecisionTime', 'Approvals', 'Iterations'])
      for (const list of values(name)) expect(list.length).toBeLessThanOrEqual(100);
    expect(values('ApprovalDecisionTime').flat()).toEqual(Array.from({ length: 128 }, (_, n) => n));
    expect(values('Approvals').flat()).toHaveLength(128);
    expect(values('Iterations').flat()).toEqual([7]);
    for (const line of lines)
      for (const { Metrics } of line._aws.CloudWatchMetrics) for (const { Name } of Metrics) expect(line).toHaveProperty(Name);
  });

  it('have a field for every name that the directive mentions', () => {
    for (const line of emfLines(
      [
        { name: 'Runs', value: 1, of: 'completed' },
        { name: 'RunDuration', value: 9 },
      ],
      context,
    ).map(parsed)) {
      for (const { Dimensions, Metrics } of line._aws.CloudWatchMetrics)
        for (const name of [...Dimensions.flat(), ...Metrics.map(({ Name }) => Name)]) expect(line).toHaveProperty(name);
    }
  });
});
