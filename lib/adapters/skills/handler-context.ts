import type { ToolContext } from '../../core/hands/category.ts';
import type { Workspace } from '../../core/ports/workspace.ts';
import type { SkillContext, SkillFetchInit } from '../../core/skills/context.ts';
import type { SkillRequest, SkillResponse } from './skill-fetch.ts';

export interface ContextParts {
  readonly facts: Pick<ToolContext, 'callId' | 'sessionId' | 'previousResults' | 'signal' | 'logger'>;
  readonly fetch: (request: SkillRequest, signal: AbortSignal) => Promise<SkillResponse>;
  readonly workspace: Workspace | undefined;
}

/** What a handler is given, over the machine's means or over a pipe to them. */
export function skillContext({ facts, fetch, workspace }: ContextParts): SkillContext {
  const { callId, sessionId, previousResults, signal, logger } = facts;
  return {
    fetch: async (url, init = {}) =>
      responseOf(await fetch(requestOf(url, init), AbortSignal.any([signal, ...(init.signal ? [init.signal] : [])]))),
    ...(workspace ? { workspace } : {}),
    signal,
    logger,
    callId,
    sessionId,
    previousResults,
  };
}

function requestOf(url: string | URL, { method = 'GET', headers = {}, body }: SkillFetchInit): SkillRequest {
  return { url: String(url), method, headers: { ...headers }, ...(body === undefined ? {} : { body }) };
}

/** Statuses whose responses have no body. */
const BODILESS = [101, 103, 204, 205, 304];

function responseOf({ url, status, headers, body }: SkillResponse): Response {
  const bytes = BODILESS.includes(status) ? null : new Uint8Array(body);
  const response = new Response(bytes, { status, headers: headers.map(([name, value]): [string, string] => [name, value]) });
  // `Response` has no way to say where it came from.
  Object.defineProperty(response, 'url', { value: url });
  return response;
}
