import * as z from 'zod';

/** One unit of concurrency held while a call is in flight (design 6.5). */
export const leaseSchema = z.object({
  /** `<runId>#<callId>#<attempt>` */
  key: z.string(),
  run: z.string(),
  /** `global`, `category:<c>`, `tool:<t>`, `skill:<s>` */
  levels: z.array(z.string()),
  until: z.number(),
});
export type Lease = z.infer<typeof leaseSchema>;

export const waiterSchema = z.object({
  /** `<runId>#<callId>` */
  key: z.string(),
  run: z.string(),
  levels: z.array(z.string()),
  since: z.number(),
  until: z.number(),
});
export type Waiter = z.infer<typeof waiterSchema>;

/** One item for the deployment; use is counted from the leases, so nothing can drift. `ver` guards every change. */
export const permitsSchema = z.object({ ver: z.int(), leases: z.array(leaseSchema), waiting: z.array(waiterSchema) });
export type Permits = z.infer<typeof permitsSchema>;

export const noPermits: Permits = { ver: 0, leases: [], waiting: [] };
