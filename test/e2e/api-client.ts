import { setTimeout as pause } from 'node:timers/promises';
import type { Runner } from './runner.ts';

// biome-ignore lint/suspicious/noExplicitAny: the suite looks into answers field by field; a missing one fails the test
type Body = any;

export interface Answer {
  readonly status: number;
  readonly body: Body;
}

const END = ['succeeded', 'failed', 'cancelled', 'limited'];
const PATIENCE_MS = 60_000;

/** The API as a client over HTTP uses it. */
export function apiClient(runner: Pick<Runner, 'url' | 'authorization'>) {
  const call = async (method: string, path: string, body?: unknown): Promise<Answer> => {
    const response = await fetch(`${runner.url}${path}`, {
      method,
      headers: { authorization: runner.authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') ?? false;
    return { status: response.status, body: isJson && text !== '' ? JSON.parse(text) : text };
  };
  const until = async <T>(what: string, look: () => Promise<T | undefined>): Promise<T> => {
    const end = Date.now() + PATIENCE_MS;
    for (;;) {
      const found = await look();
      if (found !== undefined) return found;
      if (Date.now() > end) throw new Error(`waited in vain for ${what}`);
      await pause(100);
    }
  };
  return {
    call,
    until,
    async start(input: string, rest: Record<string, unknown> = {}): Promise<string> {
      const { status, body } = await call('POST', '/runs', { input, ...rest });
      if (status !== 202) throw new Error(`POST /runs: ${status} ${JSON.stringify(body)}`);
      return body.runId;
    },
    ended: (runId: string): Promise<Body> =>
      until(`the end of ${runId}`, async () => {
        const { body } = await call('GET', `/runs/${runId}`);
        return END.includes(body.status) ? body : undefined;
      }),
    approvals: (runId: string, count: number): Promise<Body[]> =>
      until(`${count} approvals of ${runId}`, async () => {
        const { body } = await call('GET', '/approvals');
        const mine = body.approvals.filter((approval: Body) => approval.runId === runId);
        return mine.length >= count ? mine : undefined;
      }),
    async events(runId: string): Promise<Body[]> {
      return (await call('GET', `/runs/${runId}/events?after=0`)).body.events;
    },
  };
}
