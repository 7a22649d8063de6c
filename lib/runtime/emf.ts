import { METRICS, type Measure } from '../core/loop/metrics.ts';

/** Namespace of every metric in CloudWatch. */
export const METRIC_NAMESPACE = 'Handrail';
/** The dimension that all metrics have: the name of the deployment. */
export const DEPLOYMENT_DIMENSION = 'Deployment';

export interface EmfContext {
  readonly deployment: string;
  /** ms since 1970. */
  readonly at: number;
  /** Found in the line, not in the metric: run, session, tenant, step. */
  readonly fields: Readonly<Record<string, string | number>>;
}

/**
 * Measures as lines of the Embedded Metric Format, which CloudWatch Logs turns into metrics (specification of the format,
 * CloudWatch User Guide). A metric that is split has its sum over all values too, so that a graph needs no arithmetic.
 */
export function emfLines(measures: readonly Measure[], { deployment, at, fields }: EmfContext): string[] {
  return groupsOf(measures).map(([dimension, of, group]) =>
    JSON.stringify({
      _aws: {
        Timestamp: at,
        CloudWatchMetrics: [
          {
            Namespace: METRIC_NAMESPACE,
            Dimensions: [[DEPLOYMENT_DIMENSION], ...(dimension === undefined ? [] : [[DEPLOYMENT_DIMENSION, dimension]])],
            Metrics: [...new Set(group.map(({ name }) => name))].map((name) => ({ Name: name, Unit: METRICS[name].unit })),
          },
        ],
      },
      [DEPLOYMENT_DIMENSION]: deployment,
      ...(dimension === undefined ? {} : { [dimension]: of }),
      ...fields,
      ...valuesOf(group),
    }),
  );
}

type Group = [dimension: string | undefined, of: string, measures: Measure[]];

/** The format drops a metric that has more values than this in one line. */
const VALUES_PER_LINE = 100;

/** All metrics without a split fit into one line; each value of a split needs its own, and so do values beyond the limit. */
function groupsOf(measures: readonly Measure[]): Group[] {
  const groups = new Map<string, Group>();
  const counts = new Map<string, number>();
  for (const measure of measures) {
    const dimension = METRICS[measure.name].by;
    const split = `${dimension ?? ''}/${measure.of ?? ''}`;
    const count = counts.get(`${measure.name}/${split}`) ?? 0;
    counts.set(`${measure.name}/${split}`, count + 1);
    const key = `${split}/${Math.floor(count / VALUES_PER_LINE)}`;
    const group = groups.get(key) ?? [dimension, measure.of ?? 'none', []];
    group[2].push(measure);
    groups.set(key, group);
  }
  return [...groups.values()];
}

/** A metric measured more than once is a list of values. */
function valuesOf(group: readonly Measure[]): Record<string, number | number[]> {
  const values = new Map<string, number[]>();
  for (const { name, value } of group) values.set(name, [...(values.get(name) ?? []), value]);
  return Object.fromEntries([...values].map(([name, list]) => [name, list.length === 1 ? (list[0] ?? 0) : list]));
}
