import type { ZodType } from 'zod';
import type { Suspension } from '../../lib/core/guard/approvals/suspension.ts';
import type { LivePolicy } from '../../lib/core/guard/policy.ts';
import type { Permits } from '../../lib/core/hands/permits-item.ts';
import type { PlacedEvent } from '../../lib/core/loop/event.ts';
import type { Run } from '../../lib/core/loop/run.ts';
import type { Session } from '../../lib/core/loop/session.ts';
import type { MessageWrite, Page } from '../../lib/core/ports/run-store.ts';

/** Passed before each operation takes place: a test orders operations with it, lets one fail, or stops an actor dead. */
export type Gate = (operation: string) => Promise<void>;

/** Both tables, as they stand. Tests may look into it and put things there. */
export interface MemoryState {
  readonly runs: Map<string, Run>;
  readonly sessions: Map<string, Session>;
  /** Session → key prefix → commit. */
  readonly messages: Map<string, Map<string, MessageWrite>>;
  /** Run → key → event. */
  readonly events: Map<string, Map<string, PlacedEvent>>;
  readonly suspensions: Map<string, Suspension>;
  readonly policies: Map<string, LivePolicy>;
  /** Owner → replaced versions, oldest first. */
  readonly keptPolicies: Map<string, LivePolicy[]>;
  permits: Permits | undefined;
  /** Run or suspension → the last failure of sweep at it. */
  readonly deferrals: Map<string, { dueAt: number; ms: number }>;
}

export function emptyState(): MemoryState {
  return {
    runs: new Map(),
    sessions: new Map(),
    messages: new Map(),
    events: new Map(),
    suspensions: new Map(),
    policies: new Map(),
    keptPolicies: new Map(),
    permits: undefined,
    deferrals: new Map(),
  };
}

/** A value as it comes back from a table: JSON, parsed by its schema. */
export function stored<T>(schema: ZodType<T>, value: unknown): T {
  return schema.parse(JSON.parse(JSON.stringify(value)));
}

export function pageOf<T>(all: readonly T[], limit: number, cursor: string | undefined): Page<T> {
  const start = cursor === undefined ? 0 : Number(cursor);
  const end = start + limit;
  return { items: structuredClone(all.slice(start, end)), cursor: end < all.length ? String(end) : undefined };
}
