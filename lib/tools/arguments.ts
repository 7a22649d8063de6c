import * as z from 'zod';
import { HandrailError } from '../core/errors.ts';
import { type JsonObject, jsonObjectSchema } from '../core/json.ts';

/** The JSON Schema of a tool's arguments, for its definition; what the handler parses with says it once. */
export function parametersOf(schema: z.ZodObject): JsonObject {
  const { $schema: _dialect, ...parameters } = z.toJSONSchema(schema, { io: 'input' });
  return jsonObjectSchema.parse(parameters);
}

/** A call's arguments with defaults filled in. HandrailError INVALID_ARGUMENTS that names what is wrong, and where. */
export function parseArguments<Schema extends z.ZodObject>(schema: Schema, args: JsonObject): z.output<Schema> {
  const parsed = schema.safeParse(args);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.slice(0, 5).map((issue) => `${issue.path.join('.') || 'arguments'}: ${issue.message}`);
  const field = parsed.error.issues[0]?.path.join('.');
  throw new HandrailError('INVALID_ARGUMENTS', problems.join('; '), field ? { field } : {});
}
