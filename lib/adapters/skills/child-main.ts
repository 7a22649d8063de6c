import { pathToFileURL } from 'node:url';
import type { Logger } from '../../core/ports/logger.ts';
import type { Workspace } from '../../core/ports/workspace.ts';
import { exportedHandler } from '../../core/skills/exported-handler.ts';
import { skillContext } from './handler-context.ts';
import type { FromChild, Means, ToChild } from './pipe.ts';
import type { SkillResponse } from './skill-fetch.ts';

/**
 * A handler skill's process on a laptop: one call, then the end. It has no network and no files but its own code; what its
 * permissions allow it asks of the parent, over the pipe that started it. Imports nothing that is not read without asking.
 */
const waiting = new Map<number, PromiseWithResolvers<unknown>>();
const ended = new AbortController();
let asked = 0;

process.on('message', (message: ToChild) => {
  switch (message.type) {
    case 'run':
      void run(message);
      break;
    case 'answer':
      waiting.get(message.id)?.resolve(message.value);
      waiting.delete(message.id);
      break;
    case 'refusal':
      waiting.get(message.id)?.reject(Object.assign(new Error(message.message), { code: message.code }));
      waiting.delete(message.id);
      break;
    case 'abort':
      ended.abort(new Error(message.reason));
      break;
  }
});
// A parent that is gone wants no answer.
process.on('disconnect', () => process.exit(1));

async function run(call: Extract<ToChild, { type: 'run' }>): Promise<void> {
  try {
    const handler = exportedHandler(await import(pathToFileURL(call.module).href));
    if (!handler) throw new Error('the module exports no function, as default or as "handler"');
    const { callId, sessionId, previousResults } = call;
    const facts = { callId, sessionId, previousResults, signal: ended.signal, logger };
    const value = await handler(call.args, skillContext({ facts, fetch, workspace: call.files ? workspace : undefined }));
    const text = value === undefined ? undefined : JSON.stringify(value);
    finish({ type: 'done', ...(text === undefined ? {} : { value: text }) });
  } catch (error) {
    const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? { code: error.code } : {};
    finish({ type: 'failed', ...code, message: error instanceof Error ? error.message : String(error) });
  }
}

function finish(message: FromChild): void {
  process.send?.(message, undefined, {}, () => process.exit(0));
}

const send = (message: FromChild): void => void process.send?.(message);

function ask(means: Means, signal?: AbortSignal): Promise<unknown> {
  const id = ++asked;
  const answer = Promise.withResolvers<unknown>();
  waiting.set(id, answer);
  send({ type: 'ask', id, means });
  signal?.addEventListener('abort', () => send({ type: 'cancel', id }), { once: true });
  return answer.promise;
}

// The parent's answers have the types of the ports that they come from.
const fetch = (request: Extract<Means, { op: 'fetch' }>['request'], signal: AbortSignal): Promise<SkillResponse> =>
  ask({ op: 'fetch', request }, signal) as Promise<SkillResponse>;

const workspace: Workspace = {
  read: (path) => ask({ op: 'read', path }) as ReturnType<Workspace['read']>,
  write: (path, data, mode) => ask({ op: 'write', path, data, mode }) as ReturnType<Workspace['write']>,
  list: (path, { depth, limit }) => ask({ op: 'list', path, depth, limit }) as ReturnType<Workspace['list']>,
  remove: (path) => ask({ op: 'remove', path }) as ReturnType<Workspace['remove']>,
};

const logger: Logger = {
  debug: (message, fields = {}) => send({ type: 'log', level: 'debug', message, fields }),
  info: (message, fields = {}) => send({ type: 'log', level: 'info', message, fields }),
  warn: (message, fields = {}) => send({ type: 'log', level: 'warn', message, fields }),
  error: (message, _error, fields = {}) => send({ type: 'log', level: 'error', message, fields }),
};
