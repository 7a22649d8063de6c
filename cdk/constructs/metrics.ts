import { Duration } from 'aws-cdk-lib';
import { MathExpression, Metric, Stats, Unit } from 'aws-cdk-lib/aws-cloudwatch';
import { TABLES, type TableId } from '../../lib/adapters/stores/dynamodb/tables.ts';
import { METRICS, type MetricName } from '../../lib/core/loop/metrics.ts';
import { functionName, tableName } from '../../lib/manifest.ts';
import { DEPLOYMENT_DIMENSION, METRIC_NAMESPACE } from '../../lib/runtime/emf.ts';

export const PERIOD = Duration.minutes(5);

/** The metrics of one deployment: ours by `METRICS`, the services' by the fixed names of what they are about. */
export class Metrics {
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  /** One of ours; `of` = one value of the dimension that it is split by, else all together. */
  ours(metricName: MetricName, options: { of?: string; statistic?: string; period?: Duration; label?: string } = {}): Metric {
    const { by, unit } = METRICS[metricName];
    const { of, statistic = unit === 'Milliseconds' ? Stats.p(90) : Stats.SUM, period = PERIOD, label } = options;
    return new Metric({
      namespace: METRIC_NAMESPACE,
      metricName,
      dimensionsMap: { [DEPLOYMENT_DIMENSION]: this.#name, ...(of === undefined || by === undefined ? {} : { [by]: of }) },
      statistic,
      period,
      ...(label === undefined ? {} : { label }),
    });
  }

  /** Every value of the dimension that one of ours is split by, as a line each. Values need not be known before. */
  split(metricName: MetricName): MathExpression {
    const { by } = METRICS[metricName];
    const search = `{${METRIC_NAMESPACE},${DEPLOYMENT_DIMENSION},${by}} MetricName="${metricName}" ${DEPLOYMENT_DIMENSION}="${this.#name}"`;
    return new MathExpression({
      expression: `SEARCH('${search}', 'Sum', ${PERIOD.toSeconds()})`,
      usingMetrics: {},
      label: '',
      period: PERIOD,
    });
  }

  /** Without a label, which an alarm of an emulator does not take. */
  lambda(
    which: string,
    metricName: 'Errors' | 'Invocations' | 'Throttles' | 'Duration',
    statistic: string = Stats.SUM,
    period = PERIOD,
  ): Metric {
    const FunctionName = functionName(this.#name, which);
    return new Metric({ namespace: 'AWS/Lambda', metricName, dimensionsMap: { FunctionName }, statistic, period });
  }

  /** Requests that a table refused, and those that each of its indexes did: an index is counted apart. */
  tableThrottles(which: TableId): Metric[] {
    const places = [{}, ...TABLES[which].indexes.map(({ name }) => ({ GlobalSecondaryIndexName: name }))];
    return places.flatMap((place) =>
      (['ReadThrottleEvents', 'WriteThrottleEvents'] as const).map(
        (metricName) =>
          new Metric({
            namespace: 'AWS/DynamoDB',
            metricName,
            dimensionsMap: { TableName: tableName(this.#name, which), ...place },
            statistic: Stats.SUM,
            period: PERIOD,
          }),
      ),
    );
  }

  loop(
    stateMachineArn: string,
    metricName: 'ExecutionsStarted' | 'ExecutionsFailed' | 'ExecutionsTimedOut' | 'ExecutionThrottled',
  ): Metric {
    return new Metric({
      namespace: 'AWS/States',
      metricName,
      dimensionsMap: { StateMachineArn: stateMachineArn },
      statistic: Stats.SUM,
      period: PERIOD,
      unit: Unit.COUNT,
    });
  }
}
