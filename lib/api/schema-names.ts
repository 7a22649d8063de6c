import * as z from 'zod';

/** Schemas that have a name in the OpenAPI document: `schema.register(schemaNames, { id: 'Run' })`. Others are written out where they stand. */
export const schemaNames = z.registry<{ id: string }>();
