import { setTimeout as pause } from 'node:timers/promises';
import * as z from 'zod';
import { problemSchema } from '../api/problem.ts';
import { CLI_AGENT } from '../api/route.ts';
import { type ApprovalView, approvalViewSchema } from '../api/views/approval-view.ts';
import { runExportSchema } from '../api/views/export-view.ts';
import { type PolicyView, policyHistorySchema, policyViewSchema } from '../api/views/policy-view.ts';
import { type RunView, runBriefSchema, runSummarySchema, runViewSchema } from '../api/views/run-view.ts';
import { sessionViewSchema } from '../api/views/session-view.ts';
import { type Code, HandrailError } from '../core/errors.ts';
import type { GuardConstraints } from '../core/guard/constraints.ts';
import { placedEventSchema } from '../core/loop/event.ts';
import { VERSION } from '../runtime/version.ts';
import { bearer, type Credential, type Outgoing, senderTo } from './sender.ts';

/** Kinds of events that a newer server may have do not stop a reader. */
const shownEventSchema = placedEventSchema.extend({ type: z.string() });
export type ShownEvent = z.infer<typeof shownEventSchema>;

const runListSchema = z.object({
  runs: z.array(runSummarySchema),
  cursor: z.string().optional(),
});
const eventListSchema = runBriefSchema.extend({
  events: z.array(shownEventSchema),
  next: z.int(),
  more: z.boolean(),
});
const approvalListSchema = z.object({
  approvals: z.array(approvalViewSchema),
  cursor: z.string().optional(),
});
const toolSchema = z.looseObject({
  name: z.string(),
  description: z.string(),
  category: z.string(),
  effectTags: z.array(z.string()),
});
const toolListSchema = z.object({
  tools: z.array(toolSchema),
  refused: z.array(z.object({ name: z.string(), denied: z.array(z.string()) })).default([]),
});
const healthSchema = z.looseObject({ status: z.string(), version: z.string() });

const fileListSchema = z.object({
  entries: z.array(z.object({ path: z.string(), kind: z.string(), bytes: z.number(), modifiedAt: z.number() })),
});
const writtenSchema = z.object({ path: z.string(), bytes: z.number(), created: z.boolean() });

/** A server from before there were any gives none. */
const policySchema = policyViewSchema.extend({ warnings: policyViewSchema.shape.warnings.default([]) });

const exportPageSchema = runExportSchema.extend({ events: z.array(shownEventSchema) });
export type RunExportPage = z.infer<typeof exportPageSchema>;

type RunBrief = z.infer<typeof runBriefSchema>;
export type EventList = z.infer<typeof eventListSchema>;

interface NewRun {
  readonly input: string;
  readonly agent?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly constraints?: { readonly max_iterations: number } | undefined;
}

export interface Decision {
  readonly decision: 'approve' | 'reject' | 'answer';
  readonly reason?: string | undefined;
  /** With `answer`. */
  readonly answer?: string | undefined;
}

export type PolicyScope = PolicyView['scope'];

type Query = Readonly<Record<string, string | number | undefined>>;

/** The HTTP API as the CLI uses it. Every failure is a HandrailError with the server's own code, message, field and advice. */
export interface ApiClient {
  readonly url: string;
  startRun(run: NewRun): Promise<RunBrief>;
  listRuns(query: Query): Promise<z.infer<typeof runListSchema>>;
  getRun(runId: string): Promise<RunView>;
  listEvents(runId: string, after: number): Promise<EventList>;
  cancelRun(runId: string): Promise<RunBrief>;
  /** A page from step `after` on. */
  exportRun(runId: string, after: number): Promise<RunExportPage>;
  getSession(sessionId: string): Promise<z.infer<typeof sessionViewSchema>>;
  deleteSession(sessionId: string): Promise<void>;
  listFiles(sessionId: string, query: Query): Promise<z.infer<typeof fileListSchema>>;
  readFile(sessionId: string, path: string): Promise<Uint8Array>;
  writeFile(sessionId: string, path: string, data: Uint8Array): Promise<z.infer<typeof writtenSchema>>;
  listApprovals(query: Query): Promise<z.infer<typeof approvalListSchema>>;
  getApproval(approvalId: string): Promise<ApprovalView>;
  decide(approvalId: string, decision: Decision): Promise<ApprovalView>;
  getPolicy(scope: PolicyScope): Promise<PolicyView>;
  /** `version`: the one that was seen. Errors: CONFLICT when it is another by now. */
  putPolicy(scope: PolicyScope, version: number, guard: GuardConstraints): Promise<PolicyView>;
  listPolicyHistory(scope: PolicyScope): Promise<z.infer<typeof policyHistorySchema>>;
  listTools(): Promise<z.infer<typeof toolListSchema>>;
  health(): Promise<z.infer<typeof healthSchema>>;
}

/** Reads are repeated when the network or the server fails for a moment. */
const RETRY_PAUSES_MS = [100, 400, 1_500];

/** `url` may have a path of its own, as emulators do. */
export type ClientOptions = { readonly url: string } & ({ readonly secret: string } | { readonly credential: Credential });

interface More {
  readonly query?: Query;
  /** Bytes as they are, anything else as JSON. */
  readonly body?: unknown;
  readonly ifMatch?: string;
}

/** The requests themselves. What fails on the way is a HandrailError; what was answered is left to the caller, or read. */
function transport(options: ClientOptions) {
  const base = options.url.replace(/\/+$/, '');
  const sender = senderTo(base, 'secret' in options ? bearer(options.secret) : options.credential);
  const send = (method: Outgoing['method'], path: string, { query = {}, body, ifMatch }: More = {}): Promise<Response> => {
    const raw = body instanceof Uint8Array;
    return sender({
      method,
      path,
      query: given(query),
      headers: {
        'user-agent': `${CLI_AGENT}${VERSION}`,
        ...(body === undefined ? {} : { 'content-type': raw ? 'application/octet-stream' : 'application/json' }),
        ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
      },
      ...(body === undefined ? {} : { body: raw ? new Uint8Array(body) : JSON.stringify(body) }),
    });
  };
  const ask = async (path: string, query: Query = {}): Promise<Response> => {
    for (const ms of RETRY_PAUSES_MS) {
      const response = await send('GET', path, { query }).catch(passing);
      if (response && response.status !== 429 && response.status < 500) return response;
      await response?.body?.cancel();
      await pause(ms);
    }
    return send('GET', path, { query });
  };
  const get = async <Out extends z.ZodType>(schema: Out, path: string, query?: Query): Promise<z.output<Out>> =>
    read(schema, await ask(path, query), `GET ${path}`);
  const post = async <Out extends z.ZodType>(schema: Out, path: string, body: unknown): Promise<z.output<Out>> =>
    read(schema, await send('POST', path, { body }), `POST ${path}`);
  return { base, send, ask, get, post };
}

export function createClient(options: ClientOptions): ApiClient {
  const { base, send, ask, get, post } = transport(options);
  const run = (runId: string): string => `/runs/${encodeURIComponent(runId)}`;
  const session = (sessionId: string): string => `/sessions/${encodeURIComponent(sessionId)}`;
  const approval = (approvalId: string): string => `/approvals/${encodeURIComponent(approvalId)}`;
  return {
    url: base,
    startRun: (body) => post(runBriefSchema, '/runs', body),
    listRuns: (query) => get(runListSchema, '/runs', query),
    getRun: (runId) => get(runViewSchema, run(runId)),
    listEvents: (runId, after) => get(eventListSchema, `${run(runId)}/events`, { after }),
    exportRun: (runId, after) => get(exportPageSchema, `${run(runId)}/export`, { after }),
    getSession: (sessionId) => get(sessionViewSchema, session(sessionId), { limit: 20 }),
    deleteSession: async (sessionId) => {
      const response = await send('DELETE', session(sessionId));
      if (!response.ok) await read(z.never(), response, `DELETE ${session(sessionId)}`);
    },
    listFiles: (sessionId, query) => get(fileListSchema, `${session(sessionId)}/files`, query),
    readFile: async (sessionId, path) => {
      const target = `${session(sessionId)}/files/${filePath(path)}`;
      const response = await ask(target);
      return response.ok ? new Uint8Array(await response.arrayBuffer()) : read(z.never(), response, `GET ${target}`);
    },
    writeFile: async (sessionId, path, data) => {
      const target = `${session(sessionId)}/files/${filePath(path)}`;
      return read(writtenSchema, await send('PUT', target, { body: data }), `PUT ${target}`);
    },
    cancelRun: (runId) => post(runBriefSchema, `${run(runId)}/cancel`, {}),
    listApprovals: (query) => get(approvalListSchema, '/approvals', query),
    getApproval: (approvalId) => get(approvalViewSchema, approval(approvalId)),
    decide: (approvalId, decision) => post(approvalViewSchema, approval(approvalId), decision),
    getPolicy: (scope) => get(policySchema, '/policy', { scope }),
    putPolicy: async (scope, version, guard) =>
      read(policySchema, await send('PUT', '/policy', { query: { scope }, body: { guard }, ifMatch: `"${version}"` }), 'PUT /policy'),
    listPolicyHistory: (scope) => get(policyHistorySchema, '/policy/history', { scope, limit: 100 }),
    listTools: () => get(toolListSchema, '/tools'),
    health: () => get(healthSchema, '/health'),
  };
}

async function read<Out extends z.ZodType>(schema: Out, response: Response, what: string): Promise<z.output<Out>> {
  const text = await response.text();
  const body = parseJson(text);
  if (!response.ok) throw failureOf(response.status, body, text, what);
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new HandrailError(
    'INTERNAL',
    `the answer to ${what} is not one that this version understands (${issue?.path.join('.') || 'body'}: ${issue?.message})`,
  );
}

function failureOf(status: number, body: unknown, text: string, what: string): HandrailError {
  const problem = problemSchema.safeParse(body);
  if (!problem.success) return foreignFailure(status, text, what);
  const { code, detail, advice, field, errors, suggestions = [], type: _type, title: _title, status: _status, ...extra } = problem.data;
  const all = errors?.map((one) => `\n  ${one.field}: ${one.message}`).join('') ?? '';
  return new HandrailError(code, `${detail}${all}`, {
    ...(field === undefined ? {} : { field }),
    suggestions: [advice, ...suggestions],
    extra: Object.fromEntries(Object.entries(extra).flatMap(([key, value]) => (isPlain(value) ? [[key, value]] : []))),
  });
}

/** What a gateway answers before a request comes to us (`{"message":"Forbidden"}`), by status. */
const GATEWAY: Readonly<Record<number, readonly [code: Code, ...advice: string[]]>> = {
  401: ['UNAUTHORIZED', 'The deployment takes tokens: put a valid one into HANDRAIL_SECRET.'],
  403: ['FORBIDDEN', 'Is the request signed as the deployment wants it, and does the role have the route? docs/security.md lists them.'],
  404: ['NOT_FOUND', 'Is this the address of the API?'],
  413: ['PAYLOAD_TOO_LARGE'],
  429: ['TOO_MANY_REQUESTS', 'The gateway limits requests of all callers together: wait, then try again.'],
};

/** Of an answer that is no problem document: a gateway's, or one with a code that a newer server has. */
export function foreignFailure(status: number, text: string, what: string): HandrailError {
  const [code, ...suggestions] = GATEWAY[status] ?? (['SERVICE_UNAVAILABLE'] as const);
  return new HandrailError(code, `${what} was answered ${status}: ${text.slice(0, 300) || 'no text'}`, { suggestions });
}

const isPlain = (value: unknown): value is string | number | boolean => ['string', 'number', 'boolean'].includes(typeof value);

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function given(query: Query): Record<string, string> {
  return Object.fromEntries(Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])));
}

/** Addresses are made plain before they are sent, so that a step back would name something else. */
function filePath(path: string): string {
  const steps = path.replace(/^\.\//, '').split('/');
  if (steps.some((step) => step === '.' || step === '..'))
    throw new HandrailError('INVALID_ARGUMENTS', `${path}: name a file from the session's workspace, without . and ..`, { field: 'path' });
  return steps.map(encodeURIComponent).join('/');
}

/** What may pass in a moment; having nothing to show does not. */
function passing(error: unknown): undefined {
  if (error instanceof HandrailError && error.code === 'UNAUTHORIZED') throw error;
  return undefined;
}
