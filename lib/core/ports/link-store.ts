import type { Link } from '../guard/approvals/suspension.ts';

/**
 * What is kept of the links to suspensions (guard table). Both operations are the same small requests whether the
 * suspension exists or not, so that their time tells nothing.
 */
export interface LinkStore {
  /** The links of a suspension, and how often others were tried in `span`. Consistent. */
  readLinks(suspensionId: string, span: number): Promise<{ readonly links: readonly Link[]; readonly tries: number }>;
  /** Counts one that was tried in vain; how many there are in `span` now. `ttl`: epoch seconds after which the count may go. */
  countTry(suspensionId: string, span: number, ttl: number): Promise<number>;
}
