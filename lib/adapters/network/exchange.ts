import { Readable, type Transform, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Dispatcher } from 'undici';
import Client from 'undici/lib/dispatcher/client.js';
import { HandrailError } from '../../core/errors.ts';
import { timedOut } from './abortable.ts';
import type { Connector } from './connect.ts';
import { ACCEPT_ENCODING, decoders } from './decompress.ts';

export interface ExchangeRequest {
  readonly url: URL;
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly connector: Connector;
  /** The whole exchange, from connecting to the last byte. */
  readonly signal: AbortSignal;
  /** Bytes of the body, as sent and decompressed. */
  readonly maxBytes: number;
  /** False leaves the body unread. What it throws ends the exchange. */
  readonly wantsBody?: (head: ExchangeHead) => boolean;
}

export interface ExchangeHead {
  readonly status: number;
  /** Lower-case names; what came several times is joined by ", ". */
  readonly headers: ReadonlyMap<string, string>;
}

export interface ExchangeResponse extends ExchangeHead {
  readonly body: Uint8Array;
}

/** Header names and values together; undici ends the connection beyond. */
const MAX_HEADER_BYTES = 16 * 1024;
/** Hundreds of short headers fit into that, so they are counted too. */
const MAX_HEADERS = 128;
/** Interim responses (1xx) before the real one. */
const MAX_INTERIM = 8;
/** Codes of zlib, zstd and brotli. */
const COMPRESSION_ERROR = /^(?:Z_|ZSTD_|ERR__)/;

/**
 * One request and its response over a connection of its own, under limits on everything that the other side decides: size and
 * number of headers, bytes of the body before and after decompression, time. Never follows a redirect. Errors: NETWORK_ERROR
 * without the address, RESOURCE_EXHAUSTED, INVALID_OUTPUT, TIMEOUT.
 */
export async function exchange(request: ExchangeRequest): Promise<ExchangeResponse> {
  const { url, signal } = request;
  if (signal.aborted) throw timedOut(signal);
  const client = new Client(url.origin, { connect: request.connector, maxHeaderSize: MAX_HEADER_BYTES, headersTimeout: 0, bodyTimeout: 0 });
  const abort = (): void => void client.destroy(timedOut(signal));
  signal.addEventListener('abort', abort, { once: true });
  try {
    const receiver = createReceiver(request);
    client.dispatch(
      {
        path: `${url.pathname}${url.search}`,
        method: request.method,
        headers: { ...request.headers, 'accept-encoding': ACCEPT_ENCODING },
        body: request.body ?? null,
        reset: true,
      },
      receiver.handler,
    );
    return await receiver.response;
  } catch (error) {
    throw signal.aborted ? timedOut(signal) : describe(error, url);
  } finally {
    signal.removeEventListener('abort', abort);
    void client.destroy();
  }
}

interface Receiver {
  readonly handler: Dispatcher.DispatchHandler;
  readonly response: Promise<ExchangeResponse>;
}

function createReceiver({ wantsBody, maxBytes }: ExchangeRequest): Receiver {
  const done = Promise.withResolvers<ExchangeResponse>();
  let source: Readable | undefined;
  let interim = 0;
  let received = 0;
  const fail = (controller: Dispatcher.DispatchController, error: Error): void => {
    done.reject(error);
    source?.destroy(error);
    controller.abort(error);
  };
  const start = (controller: Dispatcher.DispatchController, head: ExchangeHead): void => {
    if (wantsBody?.(head) === false) {
      done.resolve({ ...head, body: new Uint8Array() });
      controller.abort(new Error('the body is not wanted'));
      return;
    }
    const transforms = decoders(head.headers.get('content-encoding'));
    source = new Readable({ read: () => controller.resume() });
    collect(source, transforms, maxBytes).then(
      (body) => done.resolve({ ...head, body }),
      (error: Error) => fail(controller, error),
    );
  };
  const handler: Dispatcher.DispatchHandler = {
    onRequestStart() {},
    onResponseStart(controller, status, headers) {
      if (status < 200) {
        if (++interim > MAX_INTERIM) fail(controller, tooMuch('interim responses'));
        return;
      }
      try {
        start(controller, { status, headers: flatHeaders(headers, controller.rawHeaders) });
      } catch (error) {
        fail(controller, error instanceof Error ? error : new Error(String(error)));
      }
    },
    onResponseData(controller, chunk) {
      received += chunk.length;
      if (received > maxBytes) fail(controller, tooLarge(maxBytes));
      else if (source?.push(chunk) === false) controller.pause();
    },
    onResponseEnd() {
      source?.push(null);
    },
    onResponseError(_controller, error) {
      done.reject(error);
      source?.destroy(error);
    },
  };
  return { handler, response: done.promise };
}

/** The whole body. A stream that grows beyond the limit while it is decompressed is stopped there. */
async function collect(source: Readable, transforms: readonly Transform[], maxBytes: number): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const sink = new Writable({
    write: (chunk: Buffer, _encoding, next) => {
      bytes += chunk.length;
      chunks.push(chunk);
      next(bytes > maxBytes ? tooLarge(maxBytes) : null);
    },
  });
  await pipeline([source, ...transforms, sink]);
  return Buffer.concat(chunks, bytes);
}

function flatHeaders(headers: Readonly<Record<string, string | string[] | undefined>>, raw: unknown): ReadonlyMap<string, string> {
  if (!Array.isArray(raw) || raw.length / 2 > MAX_HEADERS) throw tooMuch('headers');
  return new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), [value ?? ''].flat().join(', ')]));
}

function tooMuch(what: string): HandrailError {
  return new HandrailError('RESOURCE_EXHAUSTED', `The server sent too many ${what}.`, { suggestions: ['Use another source.'] });
}

function tooLarge(maxBytes: number): HandrailError {
  return new HandrailError('RESOURCE_EXHAUSTED', `The response is larger than ${Math.floor(maxBytes / 1024 / 1024)} MB.`, {
    suggestions: ['Look for a smaller page, or for a part of it.'],
  });
}

/** What went wrong on the wire, by its code: messages of the system name addresses. */
function describe(error: unknown, url: URL): HandrailError {
  if (error instanceof HandrailError) return error;
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown';
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return tooMuch('or too large headers');
  if (COMPRESSION_ERROR.test(code)) return new HandrailError('INVALID_OUTPUT', `The response cannot be decompressed (${code}).`);
  return new HandrailError('NETWORK_ERROR', `${url.host.slice(0, 100)} could not be reached, or broke off (${code}).`, { cause: error });
}
