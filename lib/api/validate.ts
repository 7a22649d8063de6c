import type * as z from 'zod';
import { type Fault, faultsOf } from '../core/faults.ts';
import { type FieldError, HttpError } from './problem.ts';

const MAX_ERRORS = 10;

/** What `schema` makes of a part of the request. BAD_REQUEST names every wrong field as a dotted path. */
export function validated<Schema extends z.ZodType>(schema: Schema, value: unknown, whole: 'body' | 'query'): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const errors = faultsOf(parsed.error.issues)
    .map((fault) => fieldError(fault, whole))
    .slice(0, MAX_ERRORS);
  const first = errors[0] ?? { field: whole, message: 'invalid' };
  throw new HttpError('BAD_REQUEST', `${first.field}: ${first.message}`, { field: first.field, errors });
}

/** The query as one value per name. Two values would let two readers see two requests. */
export function queryObject(url: string): Record<string, string> {
  const query: [string, string][] = [];
  const seen = new Set<string>();
  for (const [name, value] of new URL(url).searchParams) {
    if (seen.has(name)) throw new HttpError('BAD_REQUEST', `the query has ${name.slice(0, 100)} more than once`, { field: name });
    seen.add(name);
    query.push([name, value]);
  }
  return Object.fromEntries(query);
}

function fieldError({ path, message, unknownKey }: Fault, whole: string): FieldError {
  const field = path.length === 0 ? whole : path.join('.');
  return { field, message: unknownKey ? `unknown ${whole === 'query' ? 'parameter' : 'field'}` : message };
}
