import * as z from 'zod';
import { FILE_TRANSFER_BYTES } from '../../core/limits.ts';
import { doneBy } from '../audit.ts';
import { readRawBody } from '../body.ts';
import { bytes, json } from '../respond.ts';
import { type Call, defineRoute, notFound, type Route } from '../route.ts';
import { schemaNames } from '../schema-names.ts';
import { signedInAs } from '../signed-in.ts';
import { noSession, sessionParams } from './sessions.ts';

const BYTES = 'application/octet-stream';
const fileParams = sessionParams.extend({
  path: z.string().min(1).max(4_096).describe('Relative to the workspace; its slashes stay as they are'),
});

const fileListSchema = z
  .object({
    entries: z.array(
      z.object({ path: z.string(), kind: z.enum(['file', 'directory', 'other']), bytes: z.number(), modifiedAt: z.number() }),
    ),
  })
  .register(schemaNames, { id: 'FileList' });
const writtenSchema = z.object({ path: z.string(), bytes: z.number(), created: z.boolean() }).register(schemaNames, { id: 'WrittenFile' });

export const listFiles = defineRoute({
  method: 'get',
  path: '/sessions/{sessionId}/files',
  id: 'listFiles',
  summary: 'Files of a session, by path',
  access: 'read',
  params: sessionParams,
  query: z.strictObject({
    path: z.string().min(1).max(4_096).default('.').describe('A directory'),
    depth: z.coerce.number().int().min(1).max(20).default(20).describe('Levels below it'),
    limit: z.coerce.number().int().min(1).max(2_000).default(1_000),
  }),
  answer: { status: 200, description: 'Files and directories', schema: fileListSchema },
  errors: ['FILE_NOT_FOUND', 'PERMISSION_DENIED', 'INVALID_ARGUMENTS'],
  async handle({ principal: { tenant }, params: { sessionId }, query: { path, depth, limit } }, services) {
    const session = { tenant, sessionId };
    const entries = await services.files.list(session, path, { depth, limit });
    // Files may come before their session; an id that has neither is nobody's.
    if (entries.length === 0 && (await services.runs.getSession(session)) === undefined) throw noSession(sessionId);
    return { entries: [...entries] };
  },
});

export const readFile: Route = {
  method: 'get',
  path: '/sessions/{sessionId}/files/{path}',
  id: 'readFile',
  summary: `A file of a session, up to ${FILE_TRANSFER_BYTES} bytes`,
  access: 'read',
  params: fileParams,
  answers: [{ status: 200, description: 'Its bytes', mediaType: BYTES }],
  errors: ['FILE_NOT_FOUND', 'PERMISSION_DENIED', 'INVALID_ARGUMENTS', 'PAYLOAD_TOO_LARGE'],
  async respond(call) {
    const { session, path } = place(call);
    return bytes(await call.services.files.read(session, path));
  },
};

export const writeFile: Route = {
  method: 'put',
  path: '/sessions/{sessionId}/files/{path}',
  id: 'writeFile',
  summary: `Create or replace a file of a session, before or between its runs; up to ${FILE_TRANSFER_BYTES} bytes`,
  access: 'run',
  params: fileParams,
  rawBody: BYTES,
  answers: [{ status: 200, description: 'It is there', schema: writtenSchema }],
  errors: ['FILE_NOT_FOUND', 'PERMISSION_DENIED', 'INVALID_ARGUMENTS', 'RESOURCE_EXHAUSTED', 'PAYLOAD_TOO_LARGE'],
  async respond(call) {
    const { session, path } = place(call);
    const { services } = call;
    const data = await readRawBody(call.request, BYTES, FILE_TRANSFER_BYTES);
    const written = await services.files.write(session, path, data);
    const { sessionId } = session;
    services.audit({ ...doneBy(signedInAs(call.principal)), action: 'file.write', session: sessionId, path, bytes: data.byteLength });
    return json(200, { path, ...written });
  },
};

function place({ principal, params }: Call) {
  const { tenant } = signedInAs(principal);
  const parsed = fileParams.safeParse(params);
  if (!parsed.success) throw notFound();
  const { sessionId, path } = parsed.data;
  return { session: { tenant, sessionId }, path };
}
