import { approvalIdOf } from '../../ids.ts';
import type { Run } from '../../loop/run.ts';
import type { Random } from '../../ports/clock.ts';
import type { Notice, Notices } from '../../ports/notices.ts';
import { maskJson, previewOf } from '../../preview.ts';
import type { ApprovalDeps } from './deps.ts';
import { newLink } from './link.ts';
import { MAX_LINKS, pendingCalls, type Suspension } from './suspension.ts';

/** How people are told that they are asked. */
export interface Announcer {
  readonly notices: Notices;
  readonly random: Pick<Random, 'bytes'>;
  /** Where the API is for people, such as `https://approvals.example.com`. */
  baseUrl(): string;
}

/** ms after which sweep tries again to tell people. */
export const NOTICE_RETRY_MS = 60_000;
const TASK_CHARACTERS = 200;

/** Somebody is asked, was not told yet, and there is another link to tell by. */
export function isUntold(deps: ApprovalDeps, suspension: Suspension): boolean {
  return (
    deps.announcer !== undefined &&
    suspension.notifiedAt === undefined &&
    (suspension.links?.length ?? 0) < MAX_LINKS &&
    pendingCalls(suspension).length > 0
  );
}

/**
 * Sends the notices of a suspension, at least once (design 5.3): each try makes a link of its own, since the token of an
 * earlier one is kept nowhere. False when a channel failed; then sweep is due to try again. Never throws: people can
 * decide through the API and the console all the same.
 */
export async function notify(deps: ApprovalDeps, suspension: Suspension, run: Run): Promise<boolean> {
  const { announcer, guard, clock, logger } = deps;
  if (announcer === undefined || !isUntold(deps, suspension)) return true;
  const { suspensionId } = suspension;
  try {
    const { token, link } = newLink(announcer.random, suspensionId, lastExpiry(suspension));
    const added = await guard.changeSuspension(suspensionId, { kind: 'link', link });
    if (!added.applied || !added.suspension) return true;
    await announcer.notices.send(noticeOf(added.suspension, run, `${announcer.baseUrl()}/a/${suspensionId}?t=${token}`));
    await guard.changeSuspension(suspensionId, { kind: 'notified', now: clock.now() });
    return true;
  } catch (error) {
    logger.error('people could not be told that they are asked', error, { suspensionId });
    await tryAgain(deps, suspension);
    return false;
  }
}

async function tryAgain({ guard, clock, logger }: ApprovalDeps, suspension: Suspension): Promise<void> {
  const { suspensionId } = suspension;
  try {
    await guard.changeSuspension(suspensionId, { kind: 'due', dueAt: Math.min(firstExpiry(suspension), clock.now() + NOTICE_RETRY_MS) });
  } catch (error) {
    logger.error('sweep could not be asked to tell people again', error, { suspensionId });
  }
}

function noticeOf(suspension: Suspension, run: Run, link: string): Notice {
  const { tenant, runId, sessionId, suspensionId } = suspension;
  return {
    tenant,
    runId,
    sessionId,
    suspensionId,
    link,
    task: previewOf(run.input).slice(0, TASK_CHARACTERS).toWellFormed(),
    agent: run.agent,
    requestedAt: suspension.createdAt,
    expiresAt: firstExpiry(suspension),
    approvals: pendingOf(suspension).map(({ callId, kind, tool, reason, arguments: args }) => ({
      approvalId: approvalIdOf(suspensionId, callId),
      kind,
      tool,
      reason,
      arguments: previewOf(maskJson(args)),
    })),
  };
}

const pendingOf = (suspension: Suspension) => Object.values(suspension.approvals).filter(({ status }) => status === 'pending');
const firstExpiry = (suspension: Suspension): number => Math.min(...pendingOf(suspension).map(({ expiresAt }) => expiresAt));
const lastExpiry = (suspension: Suspension): number => Math.max(...pendingOf(suspension).map(({ expiresAt }) => expiresAt));
