import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { METRICS } from '../../lib/core/loop/metrics.ts';
import { METRIC_NAMESPACE } from '../../lib/runtime/emf.ts';
import { ofType, readable, synthesize } from '../support/stacks.ts';

const mails = { alarmsMail: 'ops@example.com', approvalsMail: 'boss@example.com' };
const { agent } = synthesize({ target: 'aws', ...mails });
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
  Metrics: z.array(z.object({ MetricStat: z.unknown().optional() })).optional(),
  AlarmActions: z.array(z.unknown()).min(1),
});
const alarms = ofType(agent, 'AWS::CloudWatch::Alarm').map(([, { Properties }]) => alarmSchema.parse(Properties));

describe('alarms', () => {
  it('go off for failed runs, old approvals, throttles, a sweep that stands still or fails, and events nobody took', () => {
    expect(alarms.map(({ AlarmName }) => AlarmName).sort()).toEqual([
      'handrail-dead-letters',
      'handrail-failed-runs',
      'handrail-old-approval',
      'handrail-sweep-failing',
      'handrail-sweep-not-running',
      'handrail-throttled',
    ]);
  });

  it('are told to the topic, and say what to look at', () => {
    for (const { AlarmActions, AlarmDescription } of alarms) {
      expect(AlarmActions.map(readable)).toEqual([expect.stringMatching(/^<ObservabilityAlarmsTopic[0-9A-F]+>$/)]);
      expect(AlarmDescription.length).toBeGreaterThan(30);
    }
  });

  it('take silence of sweep for bad news, and silence elsewhere for none', () => {
    const bad = alarms.filter(({ TreatMissingData }) => TreatMissingData === 'breaching').map(({ AlarmName }) => AlarmName);
    expect(bad).toEqual(['handrail-sweep-not-running']);
  });

  it('look at metrics that are written', () => {
    const ours = alarms.filter(({ Namespace }) => Namespace === METRIC_NAMESPACE).map(({ MetricName }) => MetricName);
    expect(ours).toEqual(['Runs', 'OldestApproval']);
    for (const name of ours) expect(Object.keys(METRICS)).toContain(name);
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
