import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';

/** What X-Ray's daemon takes before each document (X-Ray Developer Guide, "Sending segment documents"). */
const HEADER = '{"format":"json","version":1}\n';

export interface SpanContext {
  /** X-Ray's header of this invocation. */
  trace(): string | undefined;
  /** `host:port` of the daemon, `AWS_XRAY_DAEMON_ADDRESS` in Lambda; absent = nobody listens. */
  daemon(): string | undefined;
  now(): number;
}

/** Fields by which traces are searched: ids and names, never text. */
export type Annotations = Readonly<Record<string, string>>;
export type Spans = <T>(name: string, annotations: Annotations, work: () => Promise<T>) => Promise<T>;

/**
 * Pieces of work as subsegments of the invocation's trace. Sent to the daemon of the Lambda environment as one datagram
 * each, which costs no request and no client; a trace that is not sampled sends none. They never fail the work.
 */
export function spansTo(context: SpanContext): Spans {
  return async (name, annotations, work) => {
    const started = context.now();
    let failed = false;
    try {
      return await work();
    } catch (error) {
      failed = true;
      throw error;
    } finally {
      const [root, parent] = sampled(context.trace());
      const [host, port] = context.daemon()?.split(':') ?? [];
      if (root !== undefined && parent !== undefined && host && port) {
        const times = { start_time: started / 1000, end_time: context.now() / 1000 };
        const ids = { trace_id: root, parent_id: parent, id: randomBytes(8).toString('hex') };
        send(host, Number(port), {
          name: nameOf(name),
          type: 'subsegment',
          ...ids,
          ...times,
          ...(failed ? { fault: true } : {}),
          annotations,
        });
      }
    }
  };
}

function sampled(header: string | undefined): (string | undefined)[] {
  if (header === undefined || !/Sampled=1/.test(header)) return [];
  return [/Root=([^;]+)/.exec(header)?.[1], /Parent=([^;]+)/.exec(header)?.[1]];
}

/** Letters, digits and some signs, 200 at most (X-Ray segment documents). */
const nameOf = (name: string): string => name.replace(/[^\p{L}\p{N}\p{Z}_.:/%&#=+\\@-]/gu, '_').slice(0, 200);

function send(host: string, port: number, segment: object): void {
  const socket = createSocket('udp4');
  socket.on('error', () => socket.close());
  socket.send(HEADER + JSON.stringify(segment), port, host, () => socket.close());
}
