import * as z from 'zod';

const DAY_SECONDS = 24 * 3600;

/** How long data is kept; read by the memory function too, which needs nothing else of the configuration. */
export const retentionSchema = z
  .strictObject({
    /**
     * Days after their last writing that runs, events and messages are kept; absent: until a session is deleted. A run may
     * stand still for a week at a time while people are asked, and must find what it wrote before.
     */
    runs_days: z.int().min(30).max(3650).optional(),
    /** The same for what a skill or a sub-agent remembered for itself. */
    memory_namespace_days: z.int().min(30).max(3650).default(30),
  })
  .prefault({});
export const retentionConfigSchema = z.object({ retention: retentionSchema });

/** The attribute by which DynamoDB drops an item (epoch seconds), `days` from now on. It only cleans: nothing compares it. */
export function ttlAfter(now: number, days: number): number {
  return Math.ceil(now / 1000) + days * DAY_SECONDS;
}
