import { Duration } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, type IMetric, MathExpression, Stats, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { Topic } from 'aws-cdk-lib/aws-sns';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { TABLE_IDS } from '../../lib/adapters/stores/dynamodb/tables.ts';
import type { Deployment } from './deployment.ts';
import { Metrics, PERIOD } from './metrics.ts';

export interface AlarmsProps {
  readonly deployment: Deployment;
  /** Names of the functions in the manifest. */
  readonly functions: readonly string[];
  readonly stateMachineArn: string;
  readonly deadLetters: Queue;
  /** Is told when an alarm goes off and when it ends. */
  readonly topic: Topic;
}

interface AlarmSpec {
  readonly id: string;
  /** What it means, and what to look at first: the text of the mail. */
  readonly description: string;
  readonly metric: IMetric;
  readonly threshold: number;
  readonly operator?: ComparisonOperator;
  /** How many periods in a row. @default 1 */
  readonly periods?: number;
  /** No data is bad news. @default false */
  readonly silenceIsBad?: boolean;
}

const MINUTE_MS = 60_000;
/** Longer than sweep leaves between two tries, so that an item that stays stuck keeps the alarm on. */
const STUCK_PERIOD = Duration.minutes(30);
const BEHIND_MINUTES = 60;

/** What an operator is woken for. Each says in its mail where to look; docs/deploy.md says more. */
export class Alarms extends Construct {
  readonly alarms: readonly Alarm[];

  constructor(scope: Construct, id: string, props: AlarmsProps) {
    super(scope, id);
    const { name } = props.deployment.settings;
    this.alarms = specs(props).map(({ id: alarmId, description, metric, threshold, operator, periods = 1, silenceIsBad = false }) => {
      const alarm = new Alarm(this, alarmId, {
        alarmName: `${name}-${alarmId.replace(/(?<=[a-z])(?=[A-Z0-9])/g, '-').toLowerCase()}`,
        alarmDescription: description,
        metric,
        threshold,
        comparisonOperator: operator ?? ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
        evaluationPeriods: periods,
        treatMissingData: silenceIsBad ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
      });
      alarm.addAlarmAction(new SnsAction(props.topic));
      alarm.addOkAction(new SnsAction(props.topic));
      return alarm;
    });
  }
}

function specs({ deployment, functions, stateMachineArn, deadLetters }: AlarmsProps): AlarmSpec[] {
  const { name, target, failedRuns, approvalAgeMinutes } = deployment.settings;
  const metrics = new Metrics(name);
  const minute = Duration.minutes(1);
  return [
    {
      id: 'FailedRuns',
      description: `Runs ended with outcome "error". Query "${name}/Runs that failed" shows which, and why.`,
      metric: metrics.ours('Runs', { of: 'error' }),
      threshold: failedRuns,
    },
    {
      id: 'OldApproval',
      description: `A run has waited for a person for ${approvalAgeMinutes} minutes. GET /approvals or "handrail approvals" lists what waits.`,
      metric: metrics.ours('OldestApproval', { statistic: Stats.MAXIMUM }),
      threshold: approvalAgeMinutes * MINUTE_MS,
    },
    {
      id: 'SweepNotRunning',
      description:
        'Sweep has not run for five minutes: decisions may be undelivered and approvals may not expire. Look at the rule of sweep, and at its log.',
      metric: metrics.lambda('sweep', 'Invocations', Stats.SUM, minute),
      threshold: 1,
      operator: ComparisonOperator.LESS_THAN_THRESHOLD,
      periods: 5,
      silenceIsBad: true,
    },
    {
      id: 'SweepFailing',
      description: 'Sweep fails again and again. Its log says at what.',
      metric: metrics.lambda('sweep', 'Errors', Stats.SUM, minute),
      threshold: 1,
      periods: 3,
    },
    {
      id: 'SweepStuck',
      description:
        'Sweep fails at one item again and again: a run or an approval that cannot be read or delivered. Its log names it: "sweep could not settle an item".',
      metric: metrics.ours('SweepStuck', { period: STUCK_PERIOD }),
      threshold: 1,
    },
    {
      id: 'SweepBehind',
      description: 'What sweep looks at has been due for over an hour. docs/scale.md says how many waiting runs it bears.',
      metric: metrics.ours('SweepBehind', { statistic: Stats.MAXIMUM }),
      threshold: BEHIND_MINUTES * MINUTE_MS,
    },
    {
      id: 'DeadLetters',
      description: 'Settle or sweep could not take an event. The message shows it; sweep makes up for what was lost.',
      metric: deadLetters.metricApproximateNumberOfMessagesVisible({ period: PERIOD, statistic: Stats.MAXIMUM }),
      threshold: 1,
    },
    ...(target === 'aws' ? throttled(metrics, functions, stateMachineArn) : []),
  ];
}

/** What one alarm can look at (CloudWatch quota). */
const METRICS_PER_ALARM = 10;

/**
 * Whatever can be throttled: every function, the machine, every table with its indexes. Three groups, so that the mail
 * says where to look; a group that is larger than one alarm can be is several. MiniStack knows no alarms over several metrics.
 */
function throttled(metrics: Metrics, functions: readonly string[], stateMachineArn: string): AlarmSpec[] {
  return [
    ...throttleAlarms(
      'ThrottledFunctions',
      functions.map((which) => metrics.lambda(which, 'Throttles')),
      [
        'Lambda refused invocations. They are repeated, and a call may end as SERVICE_UNAVAILABLE. The dashboard shows which function;',
        "raise its reservedConcurrency or the account's quota, or lower hands.concurrency.",
      ],
    ),
    ...throttleAlarms(
      'ThrottledLoop',
      [metrics.loop(stateMachineArn, 'ExecutionThrottled')],
      ['Step Functions delays transitions. Raise the quota of StateTransition, or start fewer runs at a time.'],
    ),
    ...throttleAlarms(
      'ThrottledTables',
      TABLE_IDS.flatMap((which) => metrics.tableThrottles(which)),
      ['DynamoDB refused requests to a table or an index. They are repeated; docs/scale.md says what gets hot first.'],
    ),
  ];
}

function throttleAlarms(id: string, watched: readonly IMetric[], description: readonly string[]): AlarmSpec[] {
  const alarms = Math.ceil(watched.length / METRICS_PER_ALARM);
  return Array.from({ length: alarms }, (_, index) => ({
    id: index === 0 ? id : `${id}${index + 1}`,
    description: description.join(' '),
    metric: sumOf(watched.slice(index * METRICS_PER_ALARM, (index + 1) * METRICS_PER_ALARM)),
    threshold: 1,
    periods: 2,
  }));
}

function sumOf(watched: readonly IMetric[]): MathExpression {
  const usingMetrics = Object.fromEntries(watched.map((metric, index) => [`m${index}`, metric]));
  const filled = Object.keys(usingMetrics).map((key) => `FILL(${key},0)`);
  return new MathExpression({ expression: `SUM([${filled.join(',')}])`, usingMetrics, period: PERIOD, label: 'Throttled requests' });
}
