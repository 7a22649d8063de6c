import * as z from 'zod';
import { openApiDocument } from '../openapi.ts';
import { json } from '../respond.ts';
import type { Route } from '../route.ts';
import { schemaNames } from '../schema-names.ts';

const documentSchema = z
  .looseObject({ openapi: z.string(), paths: z.record(z.string(), z.looseObject({})) })
  .register(schemaNames, { id: 'OpenApi' });

/** The document of all routes, this one included; it is made when first asked for. */
export function openApiRoute(routes: () => readonly Route[]): Route {
  let document: ReturnType<typeof openApiDocument> | undefined;
  return {
    method: 'get',
    path: '/openapi.json',
    id: 'openapi',
    summary: 'This description of the API',
    access: 'signed-in',
    answers: [{ status: 200, description: 'OpenAPI 3.1', schema: documentSchema }],
    async respond({ services }) {
      document ??= openApiDocument(routes(), services.version);
      return json(200, document);
    },
  };
}
