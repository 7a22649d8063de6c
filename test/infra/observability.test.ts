import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { METRICS } from '../../lib/core/loop/metrics.ts';
import { METRIC_NAMESPACE } from '../../lib/runtime/emf.ts';
import { givenFiles, loadFrom } from '../support/skill-folders.ts';
import { ofType, readable, synthesize } from '../support/stacks.ts';

const mails = { alarmsMail: 'ops@example.com', approvalsMail: 'boss@example.com' };
const { agent } = synthesize({ target: 'aws', ...mails });
const metricSchema = z.object({
  MetricName: z.string(),
  Dimensions: z.array(z.object({ Name: z.string(), Value: z.unknown().transform(readable) })).optional(),
});
const alarmSchema = z.object({
  AlarmName: z.string(),
  AlarmDescription: z.string(),
  Threshold: z.number(),
  EvaluationPeriods: z.number(),
  Period: z.number().optional(),
  TreatMissingData: z.string(),
  Namespace: z.string().optional(),
  MetricName: z.string().optional(),
  ComparisonOperator: z.string(),
  Metrics: z.array(z.object({ MetricStat: z.object({ Metric: metricSchema }).optional() })).optional(),
  Dimensions: metricSchema.shape.Dimensions,
  AlarmActions: z.array(z.unknown()).min(1),
});
const tableSchema = z.object({ TableName: z.string(), GlobalSecondaryIndexes: z.array(z.object({ IndexName: z.string() })).default([]) });
const alarmsOf = (template: typeof agent) =>
  ofType(template, 'AWS::CloudWatch::Alarm').map(([, { Properties }]) => alarmSchema.parse(Properties));
const alarms = alarmsOf(agent);

/** Metric and dimensions of what alarms look at, such as `Throttles handrail-reason`. */
const watchedBy = (all: typeof alarms): string[] =>
  all
    .flatMap(({ MetricName, Dimensions, Metrics = [] }) => [
      ...(MetricName === undefined ? [] : [{ MetricName, Dimensions }]),
      ...Metrics.flatMap(({ MetricStat }) => (MetricStat === undefined ? [] : [MetricStat.Metric])),
    ])
    .map(({ MetricName, Dimensions = [] }) => [MetricName, ...Dimensions.map(({ Value }) => Value).sort()].join(' '));

describe('alarms', () => {
  it('go off for failed runs, old approvals, throttles, a sweep that stands still, fails, or falls behind, and events nobody took', () => {
    expect(alarms.map(({ AlarmName }) => AlarmName).sort()).toEqual([
      'handrail-dead-letters',
      'handrail-failed-runs',
      'handrail-old-approval',
      'handrail-sweep-behind',
      'handrail-sweep-failing',
      'handrail-sweep-not-running',
      'handrail-sweep-stuck',
      'handrail-throttled-functions',
      'handrail-throttled-loop',
      'handrail-throttled-tables',
      'handrail-throttled-tables-2',
    ]);
  });

  it('are told to the topic, and say what to look at', () => {
    for (const { AlarmActions, AlarmDescription } of alarms) {
      expect(AlarmActions.map(readable)).toEqual([expect.stringMatching(/^<ObservabilityAlarmsTopic[0-9A-F]+>$/)]);
      expect(AlarmDescription.length).toBeGreaterThan(30);
    }
  });

  it('are explained in the documentation', () => {
    const page = readFileSync(new URL('../../docs/deploy.md', import.meta.url), 'utf8');
    const explained = [...page.matchAll(/^ {2}\| `([a-z-]+)` \|/gm)].map(([, name]) => `handrail-${name}`);
    expect(new Set(explained)).toEqual(new Set(alarms.map(({ AlarmName }) => AlarmName.replace(/-\d+$/, ''))));
  });

  it('stay on while sweep keeps failing at an item: its period is longer than the longest pause between two tries', () => {
    const stuck = alarms.find(({ AlarmName }) => AlarmName === 'handrail-sweep-stuck');
    expect(stuck?.Period).toBeGreaterThan(15 * 60);
  });

  it('take silence of sweep for bad news, and silence elsewhere for none', () => {
    const bad = alarms.filter(({ TreatMissingData }) => TreatMissingData === 'breaching').map(({ AlarmName }) => AlarmName);
    expect(bad).toEqual(['handrail-sweep-not-running']);
  });

  it('look at metrics that are written', () => {
    const ours = alarms.filter(({ Namespace }) => Namespace === METRIC_NAMESPACE).map(({ MetricName }) => MetricName);
    expect(ours).toEqual(['Runs', 'OldestApproval', 'SweepStuck', 'SweepBehind']);
    for (const name of ours) expect(Object.keys(METRICS)).toContain(name);
  });

  it('look at the throttles of every function, of skills too, of every table and its indexes, and of the machine', () => {
    const skills = Array.from({ length: 15 }, (_, n) => [
      [`skills/s${n}/SKILL.md`, `---\nname: s${n}\ndescription: A skill.\nparameters: {}\n---\n`] as const,
      [`skills/s${n}/handler.js`, 'export default () => 1;\n'] as const,
    ]).flat();
    const { catalogue } = loadFrom(givenFiles(Object.fromEntries(skills)));
    const { agent: all, state } = synthesize({ target: 'aws' }, undefined, catalogue);
    const watched = watchedBy(alarmsOf(all));
    const functions = ofType(all, 'AWS::Lambda::Function').map(([, { Properties }]) => `Throttles ${String(Properties['FunctionName'])}`);
    expect(functions).toContain('Throttles handrail-skill-s14');
    const tables = ofType(state, 'AWS::DynamoDB::Table').flatMap(([, { Properties }]) => {
      const { TableName, GlobalSecondaryIndexes } = tableSchema.parse(Properties);
      const places = [TableName, ...GlobalSecondaryIndexes.map(({ IndexName }) => [IndexName, TableName].sort().join(' '))];
      return places.flatMap((place) => [`ReadThrottleEvents ${place}`, `WriteThrottleEvents ${place}`]);
    });
    expect(tables).toHaveLength(2 * (3 + 5));
    for (const throttle of [...functions, ...tables]) expect(watched.filter((one) => one === throttle)).toEqual([throttle]);
    expect(watched.filter((one) => one.startsWith('ExecutionThrottled '))).toHaveLength(1);
    for (const { Metrics = [] } of alarmsOf(all))
      expect(Metrics.filter(({ MetricStat }) => MetricStat !== undefined).length).toBeLessThanOrEqual(10);
  });

  it('look at no more metrics than one alarm can', () => {
    for (const { Metrics = [] } of alarms)
      expect(Metrics.filter(({ MetricStat }) => MetricStat !== undefined).length).toBeLessThanOrEqual(10);
  });

  it('have the thresholds of the stage', () => {
    const { agent: other } = synthesize({ approvalAgeMinutes: '30', failedRuns: '9' });
    const thresholds = ofType(other, 'AWS::CloudWatch::Alarm').map(([, { Properties }]) => [
      Properties['AlarmName'],
      Properties['Threshold'],
    ]);
    expect(Object.fromEntries(thresholds)).toMatchObject({ 'handrail-old-approval': 30 * 60_000, 'handrail-failed-runs': 9 });
  });
});

describe('topics', () => {
  it('mail those whom the stage names, under our key', () => {
    const mailed = ofType(agent, 'AWS::SNS::Subscription').map(([, { Properties }]) => [
      readable(Properties['TopicArn']).replace(/^<|Topic[0-9A-F]+>$/g, ''),
      Properties['Endpoint'],
    ]);
    expect(Object.fromEntries(mailed)).toEqual({ ObservabilityAlarms: mails.alarmsMail, Approvals: mails.approvalsMail });
    for (const [, { Properties }] of ofType(agent, 'AWS::SNS::Topic')) expect(Properties['KmsMasterKeyId']).toBeDefined();
  });

  it('of approvals are told to the functions that tell people', () => {
    const told = ofType(agent, 'AWS::Lambda::Function').filter(([, { Properties }]) =>
      JSON.stringify(Properties).includes('HANDRAIL_APPROVALS_TOPIC'),
    );
    expect(told.map(([, { Properties }]) => Properties['FunctionName']).sort()).toEqual(['handrail-suspend', 'handrail-sweep']);
  });

  it('are one, without subscribers, when nobody is to be mailed', () => {
    const { agent: silent } = synthesize();
    expect([ofType(silent, 'AWS::SNS::Topic').length, ofType(silent, 'AWS::SNS::Subscription').length]).toEqual([1, 0]);
  });
});

describe('events that settle and sweep cannot take', () => {
  it('go to one encrypted queue, from the rule and from the function', () => {
    const [queue] = ofType(agent, 'AWS::SQS::Queue');
    expect(queue?.[1].Properties).toMatchObject({ QueueName: 'handrail-dead-letters', MessageRetentionPeriod: 14 * 24 * 3600 });
    expect(queue?.[1].Properties['KmsMasterKeyId']).toBeDefined();
    const queued = ofType(agent, 'AWS::Lambda::Function').filter(([, { Properties }]) => 'DeadLetterConfig' in Properties);
    expect(queued.map(([, { Properties }]) => Properties['FunctionName']).sort()).toEqual(['handrail-settle', 'handrail-sweep']);
    const targets = ofType(agent, 'AWS::Events::Rule').flatMap(([, { Properties }]) =>
      z.array(z.looseObject({ DeadLetterConfig: z.unknown() })).parse(Properties['Targets']),
    );
    expect(targets.map(({ DeadLetterConfig }) => DeadLetterConfig !== undefined)).toEqual([true, true]);
  });
});

describe('traces and logs', () => {
  it('every function is traced, and logs at the level of the stage without text', () => {
    for (const [, { Properties }] of ofType(agent, 'AWS::Lambda::Function')) {
      expect(Properties['TracingConfig']).toEqual({ Mode: 'Active' });
      expect(Properties['Environment']).toMatchObject({ Variables: { HANDRAIL_LOG_LEVEL: 'info', HANDRAIL_LOG_TEXT: 'off' } });
    }
  });

  it('saved queries read log groups that exist', () => {
    const groups = ofType(agent, 'AWS::Logs::LogGroup').map(([, { Properties }]) => readable(Properties['LogGroupName']));
    const queries = ofType(agent, 'AWS::Logs::QueryDefinition');
    expect(queries.length).toBeGreaterThanOrEqual(8);
    for (const [, { Properties }] of queries) {
      const read = z.array(z.unknown()).min(1).parse(Properties['LogGroupNames']).map(readable);
      expect(read.filter((name) => !groups.includes(name))).toEqual([]);
    }
  });

  it('the dashboard shows every alarm and every metric that is written', () => {
    const [dashboard] = ofType(agent, 'AWS::CloudWatch::Dashboard');
    const body = readable(dashboard?.[1].Properties['DashboardBody']);
    for (const name of Object.keys(METRICS)) expect(body).toContain(name);
    const shown = /"alarms":\[(.*?)\]/.exec(body)?.[1]?.split(',') ?? [];
    expect(shown).toHaveLength(alarms.length);
  });
});
