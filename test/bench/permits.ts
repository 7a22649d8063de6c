import { startTestStores } from '../support/dynalite.ts';
import { type Contention, contend } from '../support/permits-contention.ts';
import { defaultLevels, type Job, simulate } from '../support/permits-simulation.ts';
import { seededRandom } from '../support/time.ts';
import { round } from './bench-runtime.ts';

const RUNS = 50;
const KINDS = [
  { category: 'file', tool: 'read', ms: 50 },
  { category: 'network', tool: 'fetch', ms: 300 },
  { category: 'memory', tool: 'memory', ms: 20 },
  { category: 'code', tool: 'shell', ms: 300 },
] as const;

export interface PermitFigures {
  /** Calls that got their permits, of virtual time. */
  readonly perSecond: number;
  /** Moments at which a level held more than its limit (target 0). */
  readonly exceeded: number;
  /** Calls that gave up: queue full or waited too long (target 0). */
  readonly starved: number;
  readonly conflicts: number;
  readonly worstWaitMs: number;
}

/** 50 runs, all within a second, four calls each, over the one item whose reads and writes take time and meet each other. */
export function measurePermits(): PermitFigures {
  const random = seededRandom(50);
  const jobs = Array.from(
    { length: RUNS },
    (_, n): Job => ({
      start: Math.floor(random.number() * 1_000),
      calls: KINDS.map((_kind, i) => KINDS[(n + i * (n % 2 === 0 ? 1 : 3)) % KINDS.length] ?? KINDS[0]),
      oneByOne: true,
      dies: false,
    }),
  );
  const report = simulate(jobs, defaultLevels, { latencyMs: 8, random: () => random.number() });
  return {
    perSecond: round(report.served / (report.end / 1_000), 1),
    exceeded: report.exceeded,
    starved: report.timedOut + report.abandoned,
    conflicts: report.conflicts,
    worstWaitMs: Math.round(report.worstWait),
  };
}

/** The same in real time over a table of dynalite, which this process has to serve beside the 50. */
export async function measureContention(): Promise<Contention> {
  const stores = await startTestStores();
  try {
    return await contend(stores.guard, RUNS);
  } finally {
    await stores.close();
  }
}
