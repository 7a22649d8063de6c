import * as z from 'zod';
import { json } from '../respond.ts';
import type { Route } from '../route.ts';
import { schemaNames } from '../schema-names.ts';

const healthSchema = z
  .object({ status: z.literal('ok'), name: z.literal('handrail'), version: z.string() })
  .register(schemaNames, { id: 'Health' });

/** Liveness. Anyone may ask, so it says no more than that. */
export const health: Route = {
  method: 'get',
  path: '/health',
  id: 'health',
  summary: 'Whether the server answers',
  access: 'public',
  answers: [{ status: 200, description: 'It does', schema: healthSchema }],
  respond: async ({ services }) =>
    json(200, { status: 'ok', name: 'handrail', version: services.version } satisfies z.infer<typeof healthSchema>),
};
