import type { ToolContext } from '../../lib/core/hands/category.ts';
import { silentLogger } from '../../lib/core/ports/logger.ts';

/** What a handler is told of its call, in tests: one tenant, one session, a clock that stands still. */
export function toolContext(over: Partial<ToolContext> = {}): ToolContext {
  return {
    tenant: 'acme',
    sessionId: 's1',
    namespace: 'main',
    runId: 'r-00000000000000000000000000',
    callId: 'c1-0',
    idempotencyKey: 'r-00000000000000000000000000:c1-0',
    signal: new AbortController().signal,
    timeoutMs: 5_000,
    previousResults: [],
    logger: silentLogger,
    keepWhole: async () => undefined,
    now: () => Date.UTC(2026, 0, 2),
    ...over,
  };
}
