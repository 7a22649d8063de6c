import * as z from 'zod';

/** A key of DynamoDB holds 1024 bytes; 256 characters of any script stay below. */
const KEY_CHARACTERS = 256;

/** The name of a memory. Printable and well formed, since it is shown to models and people and kept in a table's key. */
export const memoryKeySchema = z
  .string()
  .min(1)
  .max(KEY_CHARACTERS)
  .refine(
    (key) => key.isWellFormed() && !/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u.test(key),
    'holds a character that cannot be shown',
  )
  .describe('Name of the memory, such as "user.language". Use dots to keep related ones together.');
