import type { Json } from '../../lib/core/json.ts';

/** What the world answers to a tree, fixed in advance: by node and how often it was asked before. */
export interface Oracle {
  leaf(path: string, times: number): { readonly ok: boolean; readonly value: Json; readonly ms: number };
  approves(path: string, phase: string, attempt: number): boolean;
}

/** What happened while a tree ran, in order, and how it ended. */
export interface TreeHistory {
  readonly log: readonly string[];
  readonly status: 'success' | 'failure';
  /** Path of the node that the failure began at. */
  readonly failedAt?: string | undefined;
  readonly blackboard: Readonly<Record<string, Json>>;
}

/** ms that a person takes: no active time. */
export const PERSON_MS = 60_000;

const VALUES: readonly Json[] = [0, 1, 2, 'x', 'y', { n: 1 }, { n: 2, s: 'x' }, [1, 'x'], null, true];

/** Answers that look random and are the same for the same seed. */
export function seededOracle(seed: number): Oracle {
  const number = (text: string): number => {
    let hash = seed ^ 0x811c9dc5;
    for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
    hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
    return (hash ^ (hash >>> 12)) >>> 0;
  };
  return {
    leaf: (path, times) => ({
      ok: number(`ok ${path} ${times}`) % 100 < 75,
      value: VALUES[number(`value ${path} ${times}`) % VALUES.length] ?? null,
      ms: number(`ms ${path} ${times}`) % 30,
    }),
    approves: (path, phase, attempt) => number(`approves ${path} ${phase} ${attempt}`) % 100 < 70,
  };
}
