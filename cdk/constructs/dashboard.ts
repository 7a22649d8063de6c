import {
  type Alarm,
  AlarmStatusWidget,
  Dashboard as CloudWatchDashboard,
  GraphWidget,
  type IMetric,
  type IWidget,
  SingleValueWidget,
  Stats,
} from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import { Metrics, PERIOD } from './metrics.ts';

export interface DashboardProps {
  /** Name of the deployment. */
  readonly name: string;
  readonly alarms: readonly Alarm[];
  /** Names of the functions in the manifest. */
  readonly functions: readonly string[];
  readonly stateMachineArn: string;
}

const WIDTH = 24;
const HEIGHT = 6;

/** One page for an operator's day: what is wrong, what runs, who is waited for, what it costs. */
export class Dashboard extends Construct {
  constructor(scope: Construct, id: string, { name, alarms, functions, stateMachineArn }: DashboardProps) {
    super(scope, id);
    const metrics = new Metrics(name);
    const all = (metric: 'Errors' | 'Throttles' | 'Duration', statistic: string = Stats.SUM) =>
      functions.map((which) => metrics.lambda(which, metric, statistic).with({ label: which }));
    new CloudWatchDashboard(this, 'Dashboard', {
      dashboardName: name,
      widgets: [
        [new AlarmStatusWidget({ title: 'Alarms', alarms: [...alarms], width: WIDTH, height: 3 })],
        [
          values('Last 5 minutes', [
            metrics.ours('Runs', { label: 'Runs ended' }),
            metrics.ours('Iterations', { label: 'Model calls' }),
            metrics.ours('CostUsd', { label: 'Model cost, USD' }),
            metrics.ours('OldestApproval', { statistic: Stats.MAXIMUM, label: 'Oldest approval, ms' }),
          ]),
        ],
        [
          graph('Runs by outcome', [metrics.split('Runs')]),
          graph('Tool calls by code', [metrics.split('ToolCalls')]),
          graph('Guard decisions', [metrics.split('GuardDecisions')]),
        ],
        [
          graph('Approvals by status', [metrics.split('Approvals')]),
          graph('Oldest approval', [metrics.ours('OldestApproval', { statistic: Stats.MAXIMUM, label: 'ms' })]),
          graph('Time to decide', quantiles(metrics, 'ApprovalDecisionTime')),
        ],
        [
          graph('Tokens', [metrics.ours('PromptTokens'), metrics.ours('CompletionTokens')]),
          graph('Model cost, USD', [metrics.ours('CostUsd')]),
          graph('Model calls and failures', [metrics.ours('Iterations'), metrics.ours('ModelFailures')]),
        ],
        [
          graph('Active time of a run', quantiles(metrics, 'RunDuration')),
          graph('Time in the model, per step', quantiles(metrics, 'ModelDuration')),
          graph('Waiting for a permit', quantiles(metrics, 'QueueWait')),
        ],
        [
          graph('Errors of functions', all('Errors')),
          graph('Throttles of functions', all('Throttles')),
          graph('Duration of functions, p90', all('Duration', Stats.p(90))),
        ],
        [
          graph('Executions', [
            metrics.loop(stateMachineArn, 'ExecutionsStarted'),
            metrics.loop(stateMachineArn, 'ExecutionsFailed'),
            metrics.loop(stateMachineArn, 'ExecutionsTimedOut'),
          ]),
          graph('Sweep: items that fail', [metrics.ours('SweepFailures'), metrics.ours('SweepStuck')]),
          graph('Sweep: behind', [metrics.ours('SweepBehind', { statistic: Stats.MAXIMUM, label: 'ms' })]),
        ],
      ],
    });
  }
}

function quantiles(metrics: Metrics, name: 'RunDuration' | 'ModelDuration' | 'QueueWait' | 'ApprovalDecisionTime'): IMetric[] {
  return [
    metrics.ours(name, { statistic: Stats.p(50), label: 'p50, ms' }),
    metrics.ours(name, { statistic: Stats.p(90), label: 'p90, ms' }),
    metrics.ours(name, { statistic: Stats.p(99), label: 'p99, ms' }),
  ];
}

function graph(title: string, left: IMetric[]): IWidget {
  return new GraphWidget({ title, left, width: WIDTH / 3, height: HEIGHT, period: PERIOD, liveData: true });
}

function values(title: string, metrics: IMetric[]): IWidget {
  return new SingleValueWidget({ title, metrics, width: WIDTH, height: 4, period: PERIOD });
}
