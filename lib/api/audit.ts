import type { Principal } from './principal.ts';

/** Who did it, for which tenant. `by` is the whole name: an ARN with its session, `jwt:<sub>`, `link:<digest>`. */
interface Doer {
  readonly tenant: string;
  readonly by: string;
}

/**
 * What somebody took from, added to or decided over the record of an agent. Such a line is written whatever the log level
 * is, and holds no text of people, models or tools but a file's path. A session's deletion is told before its first item
 * goes, everything else once it has been done; a long list of runs takes several lines.
 */
export type AuditEntry = Doer &
  (
    | { readonly action: 'session.delete'; readonly session: string; readonly runs: string[] }
    | { readonly action: 'run.cancel'; readonly run: string; readonly session: string }
    | { readonly action: 'run.export'; readonly run: string; readonly session: string; readonly after: number }
    | {
        readonly action: 'approval.decide';
        readonly run: string;
        /** Where it came from: `api`, `page`, or `cli`, which is the client's own word. */
        readonly how: string;
        /** `<approvalId> <decision>` */
        readonly decisions: string[];
      }
    | { readonly action: 'policy.change'; readonly scope: 'tenant' | 'deployment'; readonly version: number }
    | { readonly action: 'file.write'; readonly session: string; readonly path: string; readonly bytes: number }
  );

export const doneBy = ({ tenant, principal }: Principal): Doer => ({ tenant, by: principal });
