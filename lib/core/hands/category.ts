import type { JsonObject } from '../json.ts';
import type { CodeRunner } from '../ports/code-runner.ts';
import type { Logger } from '../ports/logger.ts';
import type { MemoryStore } from '../ports/memory-store.ts';
import type { SearchProvider } from '../ports/search-provider.ts';
import type { WebClient } from '../ports/web-client.ts';
import type { Workspaces } from '../ports/workspace.ts';
import type { PreviousResult } from './call.ts';
import type { ToolDefinition } from './define-tool.ts';

/** What a tool Lambda may be given; a category's function gets only what it `needs`. */
export interface ToolServices {
  readonly workspaces: Workspaces;
  readonly code: CodeRunner;
  readonly memory: MemoryStore;
  readonly web: WebClient;
  /** Only where a provider is configured. */
  readonly search: SearchProvider;
}

/** What a handler knows of its call. Tenant, session and namespace come from the run, never from arguments. */
export interface ToolContext {
  readonly tenant: string;
  readonly sessionId: string;
  readonly namespace: string;
  readonly runId: string;
  readonly callId: string;
  /** `<runId>:<callId>` */
  readonly idempotencyKey: string;
  /** Aborted at the deadline of the call. */
  readonly signal: AbortSignal;
  /** ms left when the handler began. */
  readonly timeoutMs: number;
  readonly previousResults: readonly PreviousResult[];
  readonly logger: Logger;
  /** Keeps a long text whole among the session's files: its path there, undefined where there are none or it does not fit. */
  keepWhole(text: string): Promise<string | undefined>;
  /** ms since 1970. */
  now(): number;
}

/** One of several things a call did, for PARTIAL_SUCCESS (seed 004 section 5.4). */
export interface PartOutcome {
  readonly name: string;
  readonly data?: string;
  readonly error?: string;
}

/**
 * What a handler returns: text, JSON (shown with two-space indent), or the parts of a batch call. Failures are thrown
 * HandrailErrors. `source`: the workspace file that it is from, so that no second copy is kept when it is cut.
 */
export type ToolOutput = { text: string; source?: string } | { json: unknown; source?: string } | { parts: readonly PartOutcome[] };

export type ToolHandler<Services extends Partial<ToolServices> = Partial<ToolServices>> = (
  args: JsonObject,
  context: ToolContext,
  services: Services,
) => Promise<ToolOutput>;

/** A category of tools: a Lambda, a role, limits and permits follow from this. */
export interface Category {
  readonly name: string;
  /** Default timeout of its tools, ms. */
  readonly timeoutMs: number;
  readonly memoryMb: number;
  readonly maxConcurrency: number;
  /** What its Lambda is given. `workspace` = the session's files mounted; `memoryTable`; `network` = may reach out. */
  readonly needs: readonly ('workspace' | 'memoryTable' | 'network' | 'codeRunner')[];
  readonly tools: readonly ToolDefinition[];
}
