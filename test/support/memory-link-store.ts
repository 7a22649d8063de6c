import type { LinkStore } from '../../lib/core/ports/link-store.ts';
import type { MemoryState } from './memory-state.ts';

/** Links and tries in Maps, over the suspensions of `state`. */
export function memoryLinkStore(state: Pick<MemoryState, 'suspensions'>): LinkStore {
  const tries = new Map<string, number>();
  return {
    async readLinks(suspensionId, span) {
      return { links: structuredClone(state.suspensions.get(suspensionId)?.links ?? []), tries: tries.get(`${suspensionId} ${span}`) ?? 0 };
    },
    async countTry(suspensionId, span) {
      const count = (tries.get(`${suspensionId} ${span}`) ?? 0) + 1;
      tries.set(`${suspensionId} ${span}`, count);
      return count;
    },
  };
}
