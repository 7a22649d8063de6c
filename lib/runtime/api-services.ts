import type { ApiServices } from '../api/services.ts';
import { decide } from '../core/guard/approvals/decide.ts';
import { checkLink } from '../core/guard/approvals/link.ts';
import { changePolicy } from '../core/guard/change-policy.ts';
import { cancelRun } from '../core/loop/cancel.ts';
import { deleteSession } from '../core/loop/delete-session.ts';
import type { LoopDeps } from '../core/loop/deps.ts';
import { appLayer, startRun } from '../core/loop/start.ts';
import type { LinkStore } from '../core/ports/link-store.ts';
import { noSkills } from '../core/skills/skill.ts';
import { costOf } from './cost-of.ts';
import { VERSION } from './version.ts';

/** What differs between a laptop and a deployment. */
interface Place extends Pick<ApiServices, 'files' | 'operatorTenant' | 'about' | 'audit'> {
  readonly links: LinkStore;
  /** What a client without a terminal does with approvals, where the configuration does not say. */
  readonly nonTtyPending: boolean;
}

/** The API's use cases, over the stores and the engine of `deps`. */
export function apiServices(deps: LoopDeps, { links, files, operatorTenant, nonTtyPending, about, audit }: Place): ApiServices {
  const { config, runs, guard, clock, logger, registry } = deps;
  return {
    startRun: (request) => startRun(deps, request),
    cancelRun: (request) => cancelRun(deps, request, request.principal),
    decide: (request) => decide(deps, request),
    checkLink: (suspensionId, token) => checkLink({ links, clock }, suspensionId, token),
    linksDecide: config.approvals.self_approve,
    changePolicy: (change) => changePolicy({ ...deps, operatorTenant }, change),
    deployedGuard: appLayer(config).guard ?? {},
    nonTtyPending: config.constraints.guard?.non_tty_pending ?? nonTtyPending,
    operatorTenant,
    runs,
    guard,
    deleteSession: (session, announce) => deleteSession({ ...deps, files }, session, announce),
    files,
    costOf: costOf(config),
    tools: () => registry.getAll(),
    refusedTools: () => registry.refused(),
    skills: () => deps.skills ?? noSkills,
    clock,
    logger,
    about,
    audit,
    version: VERSION,
  };
}
