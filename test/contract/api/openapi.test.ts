import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openApiDocument } from '../../../lib/api/openapi.ts';
import { routes } from '../../../lib/api/routes.ts';
import { CODES } from '../../../lib/core/errors.ts';
import { fakeEvents, fakeRun, fakeSuspension, NOW } from '../../unit/api/fake-services.ts';
import { jsonHeaders, SECRETS, send, startBearerServer, type TestServer } from '../../unit/api/server.ts';

type Content = Record<string, { schema: object }>;
interface OperationObject {
  operationId: string;
  parameters?: { name: string; in: string; required: boolean; schema: object }[];
  requestBody?: { content: Content };
  responses: Record<string, { description: string; content?: Content }>;
  'x-permission'?: string;
}
interface Document {
  openapi: string;
  paths: Record<string, Record<string, OperationObject>>;
  components: { schemas: Record<string, object> };
}

let fixture: TestServer;
let document: Document;
const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, strictRequired: false });

beforeAll(async () => {
  fixture = await startBearerServer();
  const answer = await send(fixture.server.port, 'GET', '/openapi.json', jsonHeaders(SECRETS.alpha));
  document = JSON.parse(answer.body);
  for (const [name, schema] of Object.entries(document.components.schemas)) ajv.addSchema(resolvable(schema), `https://api.test/${name}`);
  const waiting = fakeRun(1, { status: 'waiting', plan: { next: 'suspend', suspensionId: `${fakeRun(1).runId}-3` } });
  fixture.services.store.runs = [
    waiting,
    fakeRun(2, {
      status: 'limited',
      outcome: 'budget_exceeded',
      answer: 'so far',
      endedAt: NOW,
      cancelRequestedAt: NOW,
      error: { code: 'TIMEOUT', message: 'x' },
    }),
  ];
  fixture.services.store.suspensions = [fakeSuspension(waiting, ['write_file', 'execute_shell'])];
  fixture.services.store.events = fakeEvents(3);
  fixture.services.store.sessions = [{ v: 1, tenant: 'alpha', sessionId: 's-1', createdAt: NOW, runSeq: 1, state: { a: [1] } }];
});
afterAll(() => fixture.server.close());

const operations = () =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );

/** Each component under an address of its own: this validator does not follow references from within a document to itself. */
const resolvable = (schema: object) => JSON.parse(JSON.stringify(schema).replaceAll('"#/components/schemas/', '"https://api.test/'));
const validatorOf = (schema: object) => ajv.compile(resolvable(schema));

describe('the document', () => {
  test('is OpenAPI 3.1 and has every route, each under its own id', () => {
    expect(document.openapi).toBe('3.1.0');
    expect(operations().map(({ path, method, operation }) => [method, path, operation.operationId])).toEqual(
      expect.arrayContaining(routes.map((route) => [route.method, route.path, route.id])),
    );
    expect(operations()).toHaveLength(routes.length);
    expect(new Set(operations().map(({ operation }) => operation.operationId)).size).toBe(routes.length);
  });

  test('has only references that lead somewhere, and schemas that compile', () => {
    const text = JSON.stringify(document);
    for (const [, name] of text.matchAll(/"\$ref":"([^"]+)"/g)) {
      expect(name).toMatch(/^#\/components\/schemas\/\w+$/);
      expect(document.components.schemas).toHaveProperty(String(name).split('/').at(-1) ?? '');
    }
    expect(text).not.toMatch(/__schema|\$defs|"\$schema"|"\$id"/);
    for (const schema of Object.values(document.components.schemas)) validatorOf(schema);
  });

  test('declares every parameter of a path, the permission each operation needs, and a schema of each JSON answer', () => {
    for (const { path, operation } of operations()) {
      const declared = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path').map((parameter) => parameter.name);
      expect(declared).toEqual([...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]));
      expect(operation['x-permission']).toBe(
        ['public', 'signed-in'].includes(routes.find((route) => route.id === operation.operationId)?.access ?? '')
          ? undefined
          : routes.find((route) => route.id === operation.operationId)?.access,
      );
      for (const response of Object.values(operation.responses))
        for (const { schema } of Object.values(response.content ?? {})) expect(schema).toBeTypeOf('object');
    }
  });

  test('lists codes of problems under their own status', () => {
    for (const { operation } of operations())
      for (const [status, response] of Object.entries(operation.responses))
        if (response.content?.['application/problem+json'] && !['412', '415', '428'].includes(status))
          for (const code of response.description.split(', ')) expect(CODES[code as keyof typeof CODES].status).toBe(Number(status));
  });

  test('does not change what it is made of', () => {
    expect(openApiDocument(routes, '0.0.0-test')).toEqual(document);
  });
});

describe('what the API answers is what the document says', () => {
  const run = fakeRun(1).runId;
  const approval = `${run}-3.c3-0`;
  const requests: [string, string, string, unknown, number][] = [
    [
      'post',
      '/runs',
      '/runs',
      { input: 'x', constraints: { guard: { tool_policy: { a: ['deny', { policy: 'confirm', when: { type: 'object' } }] } } } },
      202,
    ],
    ['post', '/runs', '/runs', { input: 1 }, 400],
    ['get', '/runs', '/runs?limit=1', undefined, 200],
    ['get', '/runs', '/runs?limit=x', undefined, 400],
    ['get', '/runs/{runId}', `/runs/${run}`, undefined, 200],
    ['get', '/runs/{runId}', `/runs/${fakeRun(2).runId}`, undefined, 200],
    ['get', '/runs/{runId}', `/runs/${fakeRun(8).runId}`, undefined, 404],
    ['get', '/runs/{runId}/events', `/runs/${run}/events?after=2`, undefined, 200],
    ['get', '/runs/{runId}/export', `/runs/${run}/export`, undefined, 200],
    ['get', '/sessions/{sessionId}', '/sessions/s-1', undefined, 200],
    ['get', '/sessions/{sessionId}', '/sessions/s-0', undefined, 404],
    ['get', '/sessions/{sessionId}/files', '/sessions/s-1/files', undefined, 200],
    ['get', '/sessions/{sessionId}/files/{path}', '/sessions/s-1/files/none/of/these', undefined, 404],
    // Not bytes; that a file is written and read is tested with the sessions.
    ['put', '/sessions/{sessionId}/files/{path}', '/sessions/s-1/files/a.txt', {}, 415],
    ['delete', '/sessions/{sessionId}', '/sessions/s-0', undefined, 404],
    ['post', '/runs/{runId}/cancel', `/runs/${run}/cancel`, {}, 202],
    ['get', '/approvals', '/approvals', undefined, 200],
    ['get', '/approvals/{approvalId}', `/approvals/${approval}`, undefined, 200],
    ['post', '/approvals/{approvalId}', `/approvals/${approval}`, { decision: 'maybe' }, 400],
    ['post', '/approvals/{approvalId}', `/approvals/${approval}`, { decision: 'approve', reason: 'fine', arguments: { path: 'a' } }, 200],
    ['post', '/approvals', '/approvals', { decisions: [{ approvalId: approval, decision: 'approve' }] }, 200],
    ['get', '/a/{suspensionId}', `/a/${run}-3`, undefined, 200],
    ['get', '/a/{suspensionId}', `/a/${run}-4`, undefined, 404],
    // Not a form; what the form answers is tested with the page.
    ['post', '/a/{suspensionId}', `/a/${run}-3`, {}, 415],
    ['put', '/policy', '/policy', { guard: { tool_policy: { execute_shell: 'deny' } } }, 428],
    ['put', '/policy', '/policy?scope=deployment', { guard: { tool_policy: { 'Not A Tool': 'deny' } } }, 400],
    ['get', '/policy', '/policy', undefined, 200],
    ['get', '/policy/history', '/policy/history', undefined, 200],
    ['get', '/tools', '/tools', undefined, 200],
    ['get', '/skills', '/skills', undefined, 200],
    ['post', '/skills/{name}/runs', '/skills/release-check/runs', { inputs: { version: '1.0.0' } }, 202],
    ['post', '/skills/{name}/runs', '/skills/release-check/runs', { input: {} }, 400],
    ['get', '/health', '/health', undefined, 200],
    ['get', '/openapi.json', '/openapi.json', undefined, 200],
    ['get', '/', '/', undefined, 200],
    ['get', '/console.js', '/console.js', undefined, 200],
    ['get', '/console.css', '/console.css', undefined, 200],
    ['post', '/console/session', '/console/session', { secret: 'x' }, 401],
  ];

  test.each(requests)('%s %s (%s)', async (method, path, url, body, status) => {
    const operation = document.paths[path]?.[method];
    const answer = await send(
      fixture.server.port,
      method.toUpperCase(),
      url,
      jsonHeaders(SECRETS.alpha),
      body === undefined ? undefined : JSON.stringify(body),
    );

    expect(answer.status).toBe(status);
    const type = String(answer.headers['content-type']).split(';', 1)[0] ?? '';
    const schema = operation?.responses[status]?.content?.[type]?.schema;
    if (schema === undefined) throw new Error(`${method} ${path} has no ${status} of ${type}`);
    const validate = validatorOf(schema);
    const value = type.endsWith('json') ? JSON.parse(answer.body) : answer.body;
    expect([validate(value), validate.errors]).toEqual([true, null]);
    if (body !== undefined && status < 300) {
      const accepts = validatorOf(operation?.requestBody?.content['application/json']?.schema ?? {});
      expect([accepts(body), accepts.errors]).toEqual([true, null]);
    }
  });

  test('every route is among them', () => {
    const tried = new Set(requests.map(([method, path]) => `${method} ${path}`));
    expect(routes.map((route) => `${route.method} ${route.path}`).filter((name) => !tried.has(name))).toEqual([]);
  });
});
