import { parseApprovalId, runIdSchema, sessionIdSchema, suspensionIdSchema } from '../core/ids.ts';
import type { Principal } from './principal.ts';
import type { Operation } from './route.ts';

/** What a request is about, for the lines that are logged while it is answered: its route, its tenant, and the ids in its path. */
export type RequestAbout = {
  readonly route: string;
  readonly tenant?: string;
  readonly run?: string;
  readonly session?: string;
};

/** Only ids that are well formed: a path may hold anything. */
export function aboutOf(
  { method, path }: Pick<Operation, 'method' | 'path'>,
  params: Readonly<Record<string, string>>,
  principal: Principal | undefined,
): RequestAbout {
  const run = runIn(params);
  const session = sessionIdSchema.safeParse(params['sessionId']).data;
  return {
    route: `${method.toUpperCase()} ${path}`,
    ...(principal === undefined ? {} : { tenant: principal.tenant }),
    ...(run === undefined ? {} : { run }),
    ...(session === undefined ? {} : { session }),
  };
}

function runIn({ runId, approvalId, suspensionId }: Readonly<Record<string, string>>): string | undefined {
  const suspension = suspensionIdSchema.safeParse(suspensionId).data;
  return (
    runIdSchema.safeParse(runId).data ??
    parseApprovalId(approvalId ?? '')?.runId ??
    (suspension === undefined ? undefined : suspension.slice(0, suspension.lastIndexOf('-')))
  );
}
