// Apart from `run.ts`, whose schema brings the guard's validators along: every function asks whether a run is over.
export const runStatuses = ['starting', 'running', 'waiting', 'succeeded', 'failed', 'cancelled', 'limited'] as const;
export type RunStatus = (typeof runStatuses)[number];

/** Statuses that a run never leaves. */
export const TERMINAL: readonly RunStatus[] = ['succeeded', 'failed', 'cancelled', 'limited'];

export function isTerminal(run: { readonly status: RunStatus }): boolean {
  return TERMINAL.includes(run.status);
}
