import * as z from 'zod';

/** How lists page. A cursor is what an earlier answer gave; only the store that made it can read it. */
export const pagingShape = {
  limit: z.coerce.number().int().min(1).max(100).default(20).describe('Items a page'),
  cursor: z
    .string()
    .regex(/^[A-Za-z0-9_=-]{1,2048}$/, 'not a cursor of this list')
    .optional(),
};

export const nextCursorSchema = z.string().optional().describe('Ask with it for the next page; absent on the last one');
