import type { ToolContext } from '../../core/hands/category.ts';
import { MAIN } from '../../core/ids.ts';
import type { MemoryScope } from '../../core/ports/memory-store.ts';

/** A run's main frame shares the tenant's memory with all sessions; a frame above it has one of its own (design 3.6). */
export function memoryScope({ tenant, namespace, runId }: ToolContext): MemoryScope {
  return { tenant, namespace, ...(namespace === MAIN ? {} : { runId }) };
}
