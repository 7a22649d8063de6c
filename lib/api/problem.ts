import * as z from 'zod';
import { CODES, type Code, codes, HandrailError } from '../core/errors.ts';
import type { Logger } from '../core/ports/logger.ts';
import { type ExtraHeaders, problemDocument } from './respond.ts';
import { schemaNames } from './schema-names.ts';

/** RFC 9457, with our code. Codes may add facts of their own, such as `runId` of the run that keeps a session busy. */
export const problemSchema = z
  .looseObject({
    type: z.string().describe('`urn:handrail:problem:<CODE>`'),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: z.enum(codes),
    advice: z.string().describe('What to do about it'),
    field: z.string().optional().describe('The part of the request that is wrong, as a dotted path'),
    errors: z
      .array(z.object({ field: z.string(), message: z.string() }))
      .optional()
      .describe('Everything that is wrong, when there is more than one'),
    suggestions: z.array(z.string()).optional(),
  })
  .describe('Why a request failed (RFC 9457)')
  .register(schemaNames, { id: 'Problem' });
type Problem = z.infer<typeof problemSchema>;

/** Text of a request is repeated in an answer only this far. */
const DETAIL_CHARACTERS = 500;
const FIELD_CHARACTERS = 200;

export interface FieldError {
  readonly field: string;
  readonly message: string;
}

/** A refusal of the HTTP layer itself, where the status says more than the code, or headers belong to it. */
export class HttpError extends HandrailError {
  readonly status: number;
  readonly headers: ExtraHeaders;
  readonly errors: readonly FieldError[];

  constructor(
    code: Code,
    message: string,
    more: {
      status?: number;
      headers?: ExtraHeaders;
      field?: string;
      errors?: readonly FieldError[];
      extra?: Record<string, string>;
      cause?: unknown;
    } = {},
  ) {
    super(code, message, {
      ...(more.field === undefined ? {} : { field: more.field }),
      ...(more.extra === undefined ? {} : { extra: more.extra }),
      ...('cause' in more ? { cause: more.cause } : {}),
    });
    this.status = more.status ?? CODES[code].status;
    this.headers = more.headers ?? {};
    this.errors = more.errors ?? [];
  }
}

/** The answer for anything thrown while a request was handled. What is ours to mend is logged and told to nobody. */
export function problemResponse(error: unknown, logger: Logger): Response {
  const known = error instanceof HandrailError ? error : new HandrailError('INTERNAL', 'unexpected error', { cause: error });
  const status = known instanceof HttpError ? known.status : CODES[known.code].status;
  if (status >= 500) logger.error('request failed', error, { code: known.code });
  const headers = known instanceof HttpError ? known.headers : {};
  return problemDocument(status, problemOf(known, status), headers);
}

function problemOf(error: HandrailError, status: number): Problem {
  const errors = error instanceof HttpError ? error.errors : [];
  return {
    ...error.extra,
    type: `urn:handrail:problem:${error.code}`,
    title: titleOf(error.code),
    status,
    detail: error.code === 'INTERNAL' ? 'The server failed to answer; its log has the cause.' : cut(error.message, DETAIL_CHARACTERS),
    code: error.code,
    advice: CODES[error.code].advice,
    ...(error.field === undefined ? {} : { field: cut(error.field, FIELD_CHARACTERS) }),
    ...(errors.length > 1
      ? { errors: errors.map(({ field, message }) => ({ field: cut(field, FIELD_CHARACTERS), message: cut(message, DETAIL_CHARACTERS) })) }
      : {}),
    ...(error.suggestions.length > 0 ? { suggestions: error.suggestions.map((text) => cut(text, DETAIL_CHARACTERS)) } : {}),
  };
}

/** `SESSION_BUSY` → `Session busy`. */
function titleOf(code: Code): string {
  const words = code.toLowerCase().replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function cut(text: string, characters: number): string {
  return text.length <= characters ? text : `${text.slice(0, characters).toWellFormed()}…`;
}
