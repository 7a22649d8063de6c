import type { MergedConstraints } from '../constraints.ts';

/** What the built-in checkers of one preflight go by. */
export interface GuardSettings {
  /** Merged, live policies included. */
  readonly constraints: MergedConstraints;
  /** Decides instead of a person (app-level only, design 5.1); undefined = ask. */
  readonly confirmDefault: 'allow' | 'deny' | undefined;
}
