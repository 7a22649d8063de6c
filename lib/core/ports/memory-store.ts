import type { Page, SessionKey } from './run-store.ts';

export interface MemoryEntry {
  readonly key: string;
  readonly value: string;
  readonly updatedAt: number;
}

/** `runId`: a frame of that run remembers it for itself. Such memories expire some time after they were written (`retention`). */
export interface MemoryScope {
  readonly tenant: string;
  readonly namespace: string;
  readonly runId?: string | undefined;
}

/** What an agent remembers. Sessions of a tenant share what has no `runId`. */
export interface MemoryStore {
  read(scope: MemoryScope, key: string): Promise<MemoryEntry | undefined>;
  search(scope: MemoryScope, query: { prefix?: string; text?: string; limit: number; cursor?: string }): Promise<Page<MemoryEntry>>;
  /** Throws HandrailError RESOURCE_EXHAUSTED beyond the limits of `limits.ts`. */
  write(scope: MemoryScope, entry: MemoryEntry): Promise<void>;
  remove(scope: MemoryScope, key: string): Promise<boolean>;
}
export type { SessionKey };
