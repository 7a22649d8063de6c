import { HandrailError } from '../../lib/core/errors.ts';
import { MEMORY } from '../../lib/core/limits.ts';
import type { MemoryEntry, MemoryScope, MemoryStore } from '../../lib/core/ports/memory-store.ts';

/** A MemoryStore in a Map, with the limits of the real one. */
export function memoryStore(): MemoryStore {
  const scopes = new Map<string, Map<string, MemoryEntry>>();
  const entriesOf = (scope: MemoryScope) => {
    const id = [scope.tenant, scope.runId ?? '', scope.namespace].join('#');
    const entries = scopes.get(id) ?? new Map<string, MemoryEntry>();
    scopes.set(id, entries);
    return entries;
  };
  return {
    async read(scope, key) {
      return entriesOf(scope).get(key);
    },
    async search(scope, { prefix = '', text = '', limit, cursor = '' }) {
      const found = [...entriesOf(scope).values()]
        .filter((entry) => entry.key.startsWith(prefix) && `${entry.key}\n${entry.value}`.includes(text) && entry.key > cursor)
        .sort((a, b) => (a.key < b.key ? -1 : 1));
      return { items: found.slice(0, limit), cursor: found.length > limit ? found[limit - 1]?.key : undefined };
    },
    async write(scope, entry) {
      const entries = entriesOf(scope);
      if (!entries.has(entry.key) && entries.size >= MEMORY.entries) throw new HandrailError('RESOURCE_EXHAUSTED', 'too many memories');
      entries.set(entry.key, entry);
    },
    async remove(scope, key) {
      return entriesOf(scope).delete(key);
    },
  };
}
