import * as z from 'zod';
import { CODES, type Code } from '../core/errors.ts';
import { problemSchema } from './problem.ts';
import type { Answer, Operation } from './route.ts';
import { schemaNames } from './schema-names.ts';

type Json = Record<string, unknown>;

/** The OpenAPI 3.1 document of `operations`, made from the very schemas that check requests and type answers. */
export function openApiDocument(operations: readonly Operation[], version: string) {
  const schemas: Record<string, unknown> = {};
  const paths: Record<string, Record<string, unknown>> = {};
  for (const operation of operations)
    paths[operation.path] = { ...paths[operation.path], [operation.method]: operationOf(operation, schemas) };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Handrail',
      version,
      description: 'Runs LLM agents under guard. Times are ms since 1970, money is USD. Errors are problem documents (RFC 9457).',
    },
    security: [{ bearer: [] }],
    paths,
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'The secret of a laptop or an emulator, or a JWT. With IAM: AWS Signature 4 in its place.',
        },
      },
      schemas,
    },
  };
}

function operationOf(operation: Operation, schemas: Json): Json {
  const parameters = [...parametersOf('path', operation.params), ...parametersOf('query', operation.query), ...ifMatchOf(operation)];
  const content = bodyOf(operation, schemas);
  const needs = operation.access === 'public' || operation.access === 'signed-in' ? {} : { 'x-permission': operation.access };
  return {
    operationId: operation.id,
    summary: operation.summary,
    ...(operation.access === 'public' ? { security: [] } : needs),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(content === undefined ? {} : { requestBody: { required: operation.bodyOptional !== true, content } }),
    responses: responsesOf(operation, schemas),
  };
}

function bodyOf({ body, rawBody }: Operation, schemas: Json): Json | undefined {
  if (rawBody !== undefined) return { [rawBody]: { schema: { type: 'string', format: 'binary' } } };
  return body && { 'application/json': { schema: schemaOf(body, 'input', schemas) } };
}

function parametersOf(place: 'path' | 'query', schema: z.ZodObject | undefined): Json[] {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { io: 'output' });
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: place,
    required: place === 'path' || (required.includes(name) && !hasDefault(property)),
    schema: property,
  }));
}

function ifMatchOf({ etag, method }: Operation): Json[] {
  if (!etag || method === 'get') return [];
  return [{ name: 'If-Match', in: 'header', required: true, description: 'The ETag of what you have seen', schema: { type: 'string' } }];
}

function hasDefault(property: unknown): boolean {
  return typeof property === 'object' && property !== null && 'default' in property;
}

function responsesOf(operation: Operation, schemas: Json): Json {
  const problem = (description: string) => ({
    description,
    content: { 'application/problem+json': { schema: schemaOf(problemSchema, 'output', schemas) } },
  });
  const responses: Json = {};
  for (const answer of operation.answers)
    responses[answer.status] = { ...responseOf(answer, schemas), ...(operation.etag ? { headers: ETAG_HEADER } : {}) };
  for (const [status, codes] of Map.groupBy(errorsOf(operation), (code) => CODES[code].status))
    responses[status] ??= problem(codes.join(', '));
  if (operation.body !== undefined || operation.rawBody !== undefined)
    responses[415] = problem(`The body is not ${operation.rawBody ?? 'application/json'}`);
  if (ifMatchOf(operation).length > 0) {
    responses[412] = problem('It has been changed since: If-Match names another version');
    responses[428] = problem('If-Match is missing');
  }
  return responses;
}

const ETAG_HEADER = { ETag: { description: 'Names this version; send it as If-Match to change it', schema: { type: 'string' } } };

function responseOf({ description, schema, mediaType }: Answer, schemas: Json): Json {
  if (schema !== undefined)
    return { description, content: { [mediaType ?? 'application/json']: { schema: schemaOf(schema, 'output', schemas) } } };
  return mediaType === undefined ? { description } : { description, content: { [mediaType]: { schema: { type: 'string' } } } };
}

/** Those that the HTTP layer itself may answer, and the route's own. */
function errorsOf(operation: Operation): Code[] {
  const found: Code[] = ['BAD_REQUEST', 'FORBIDDEN', 'INTERNAL'];
  if (operation.access !== 'public' || operation.body !== undefined) found.push('UNAUTHORIZED');
  if (operation.params !== undefined) found.push('NOT_FOUND');
  if (operation.body !== undefined) found.push('PAYLOAD_TOO_LARGE');
  return [...new Set([...found, ...(operation.errors ?? [])])];
}

/** JSON Schema of `schema`; the named ones in it are put into `schemas` and referred to. What goes in is described as it may be sent. */
function schemaOf(schema: z.ZodType, io: 'input' | 'output', schemas: Json): unknown {
  const { $schema: _dialect, $defs = {}, ...own } = z.toJSONSchema(schema, { io, metadata: schemaNames });
  for (const [name, definition] of Object.entries($defs))
    schemas[componentName(name)] = isUnnamed(name) ? { description: 'Any JSON value' } : renamed(definition);
  return renamed(own);
}

/** The only schema that refers to itself without a name is any JSON value. */
const isUnnamed = (name: string): boolean => name.startsWith('__');
const componentName = (name: string): string => (isUnnamed(name) ? 'Json' : name);

function renamed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(renamed);
  if (typeof schema !== 'object' || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) =>
      key === '$ref' && typeof value === 'string'
        ? [key, `#/components/schemas/${componentName(value.replace('#/$defs/', ''))}`]
        : [key, renamed(value)],
    ),
  );
}
