import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JsonObject } from '../../lib/core/json.ts';

export interface SfnRequest {
  /** `StartExecution`, … */
  readonly operation: string;
  readonly body: JsonObject;
}

export interface SfnServer {
  readonly endpoint: string;
  readonly requests: SfnRequest[];
  close(): Promise<void>;
}

/** What to answer: a body, or the name of an error of the service. */
export type SfnAnswer = { body: JsonObject } | { error: string; status?: number };

/** A loopback server that speaks the AWS JSON 1.0 protocol as Step Functions does. */
export async function sfnServer(answer: (request: SfnRequest, count: number) => SfnAnswer): Promise<SfnServer> {
  const requests: SfnRequest[] = [];
  const server = createServer(async (request, response) => {
    const received = { operation: operationOf(request), body: JSON.parse(await textOf(request)) as JsonObject };
    requests.push(received);
    const given = answer(received, requests.length);
    const [status, body] =
      'error' in given ? [given.status ?? 400, { __type: given.error, message: `${given.error}!` }] : [200, given.body];
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    requests,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const operationOf = (request: IncomingMessage): string => String(request.headers['x-amz-target']).replace('AWSStepFunctions.', '');

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}
