import type { Page, SessionKey } from './run-store.ts';

export interface MemoryEntry {
  readonly key: string;
  readonly value: string;
  readonly updatedAt: number;
}

/** What an agent remembers, by tenant and namespace. Sessions of a tenant share it. */
export interface MemoryStore {
  read(scope: { tenant: string; namespace: string }, key: string): Promise<MemoryEntry | undefined>;
  search(
    scope: { tenant: string; namespace: string },
    query: { prefix?: string; text?: string; limit: number; cursor?: string },
  ): Promise<Page<MemoryEntry>>;
  /** Throws HandrailError RESOURCE_EXHAUSTED beyond the limits of `limits.ts`. */
  write(scope: { tenant: string; namespace: string }, entry: MemoryEntry): Promise<void>;
  remove(scope: { tenant: string; namespace: string }, key: string): Promise<boolean>;
}
export type { SessionKey };
