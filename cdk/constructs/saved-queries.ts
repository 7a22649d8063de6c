import { LogGroup, QueryDefinition, QueryString } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { functionName } from '../../lib/manifest.ts';

export interface SavedQueriesProps {
  /** Name of the deployment, and the folder of the queries in CloudWatch Logs Insights. */
  readonly name: string;
  /** Names of the functions in the manifest. */
  readonly functions: readonly string[];
}

interface Query {
  readonly title: string;
  readonly fields: string[];
  readonly where?: string[];
  readonly stats?: string[];
  readonly sort?: string;
}

/** Functions whose lines a query reads; `everything` = all. */
type Queries = Readonly<Record<'committing' | 'everything', readonly Query[]>>;

/** Those that commit steps. */
const COMMITTING = ['reason', 'settle', 'sweep'];

const QUERIES: Queries = {
  committing: [
    {
      title: 'Runs that failed',
      fields: ['@timestamp', 'tenant', 'session', 'run', 'agent', 'outcome', 'code', 'totalMs'],
      where: ['message = "run.summary"', 'outcome = "error"'],
      sort: '@timestamp desc',
    },
    {
      title: 'Cost and tokens by agent',
      fields: ['agent', 'costUsd', 'promptTokens', 'completionTokens'],
      where: ['message = "run.summary"'],
      stats: ['count() as runs, sum(costUsd) as usd, avg(costUsd) as usdPerRun, sum(promptTokens + completionTokens) as tokens by agent'],
      sort: 'usd desc',
    },
    {
      title: 'Cost by tenant',
      fields: ['tenant', 'costUsd'],
      where: ['message = "run.summary"'],
      stats: ['count() as runs, sum(costUsd) as usd by tenant'],
      sort: 'usd desc',
    },
    {
      title: 'Tools - calls, failures and time',
      fields: ['tool', 'duration', 'message'],
      where: ['message like /^tool.call.(completed|failed)$/'],
      stats: [
        'count() as calls, sum(strcontains(message, "failed")) as failures, pct(duration, 50) as p50, pct(duration, 95) as p95 by tool',
      ],
      sort: 'calls desc',
    },
    {
      title: 'What the guard refused',
      fields: ['@timestamp', 'tenant', 'run', 'step', 'tool', 'checker', 'decision'],
      where: ['message = "guard.decision"', 'decision != "ALLOW"'],
      sort: '@timestamp desc',
    },
    {
      title: 'Where the time of a run goes',
      fields: ['run', 'modelMs', 'toolMs', 'queueMs', 'guardMs', 'personMs'],
      where: ['message = "run.summary"'],
      stats: ['avg(modelMs), avg(toolMs), avg(queueMs), avg(guardMs), avg(personMs), pct(totalMs, 95) by bin(1h)'],
    },
  ],
  everything: [
    {
      title: 'Errors',
      fields: ['@timestamp', 'run', 'step', 'request', 'route', 'message', 'error.name', 'error.message', '@log'],
      where: ['level = "error"'],
      sort: '@timestamp desc',
    },
    {
      title: 'Audit',
      fields: ['@timestamp', 'tenant', 'by', 'action', 'session', 'run', 'runs.0', 'decisions.0', 'how', 'path', 'request'],
      where: ['message = "audit"'],
      sort: '@timestamp desc',
    },
    {
      title: 'One run, all functions',
      fields: ['@timestamp', 'step', 'message', 'tool', 'code', '@log'],
      where: ['run = "r-PUT-THE-RUN-HERE"'],
      sort: '@timestamp asc',
    },
  ],
};

/** Queries that answer an operator's first questions, ready in CloudWatch Logs Insights. */
export class SavedQueries extends Construct {
  constructor(scope: Construct, id: string, { name, functions }: SavedQueriesProps) {
    super(scope, id);
    const read = { committing: COMMITTING, everything: functions };
    for (const which of ['committing', 'everything'] as const) {
      const logGroups = read[which].map((fn) => LogGroup.fromLogGroupName(this, `${which}-${fn}`, `/aws/lambda/${functionName(name, fn)}`));
      for (const { title, fields, where = [], stats, sort } of QUERIES[which]) {
        new QueryDefinition(this, title.replace(/[^A-Za-z]/g, ''), {
          queryDefinitionName: `${name}/${title}`,
          logGroups,
          queryString: new QueryString({
            fields,
            filterStatements: where,
            ...(stats === undefined ? { limit: 200 } : { statsStatements: stats }),
            ...(sort === undefined ? {} : { sort }),
          }),
        });
      }
    }
  }
}
