import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ModelConfig } from '../../../lib/core/config.ts';

/** What a provider is to say, free of its wire format. */
export interface Said {
  readonly text?: string;
  /** `arguments` is the raw text where the format sends text; else it is parsed. */
  readonly calls?: readonly { id: string; name: string; arguments: string }[];
  readonly finish: 'stop' | 'tool_calls' | 'length' | 'refusal';
  readonly usage?: { prompt: number; completion: number };
}

export interface Wire {
  readonly name: string;
  /** Does the format carry the raw text of arguments, so that broken JSON can arrive? */
  readonly rawArguments: boolean;
  config(baseUrl: string): ModelConfig;
  readonly path: RegExp;
  encode(said: Said): unknown;
  /** Names of the tools, and ids of the results, that a request's body shows. */
  readRequest(body: Record<string, never>): { tools: string[]; resultIds: string[] };
}

export interface Reply {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
  /** Send half of the body and drop the connection. */
  readonly cut?: boolean;
}

/** A server on loopback that gives the replies in turn and keeps the requests. */
export async function serve(replies: Reply[]): Promise<{
  url: string;
  requests: { path: string; body: Record<string, never>; headers: IncomingMessage['headers'] }[];
  close(): Promise<void>;
}> {
  const requests: { path: string; body: Record<string, never>; headers: IncomingMessage['headers'] }[] = [];
  const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    requests.push({ path: request.url ?? '', body: JSON.parse(Buffer.concat(chunks).toString('utf8')), headers: request.headers });
    const reply = replies.shift() ?? { status: 500, body: { error: { message: 'the test has no more replies' } } };
    const text = JSON.stringify(reply.body ?? {});
    response.writeHead(reply.status, {
      'content-type': 'application/json',
      ...reply.headers,
      ...(reply.cut ? { 'content-length': String(text.length) } : {}),
    });
    if (!reply.cut) response.end(text);
    else response.write(text.slice(0, text.length / 2), () => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

// biome-ignore lint/suspicious/noExplicitAny: bodies are read by tests only, which fail when a field is not there
type Body = any;

export const wires: readonly Wire[] = [
  {
    name: 'anthropic',
    rawArguments: false,
    config: (url) => ({ provider: 'anthropic', model: 'claude-test', base_url: `${url}/v1`, max_output_tokens: 100 }),
    path: /^\/v1\/messages$/,
    encode: ({ text, calls = [], finish, usage }) => ({
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-test',
      content: [
        ...(text === undefined ? [] : [{ type: 'text', text }]),
        ...calls.map((call) => ({ type: 'tool_use', id: call.id, name: call.name, input: JSON.parse(call.arguments) })),
      ],
      stop_reason: { stop: 'end_turn', tool_calls: 'tool_use', length: 'max_tokens', refusal: 'refusal' }[finish],
      stop_sequence: null,
      ...(usage ? { usage: { input_tokens: usage.prompt, output_tokens: usage.completion } } : {}),
    }),
    readRequest: (body: Body) => ({
      tools: (body.tools ?? []).map((tool: Body) => tool.name),
      resultIds: body.messages
        .flatMap((message: Body) => message.content)
        .filter((part: Body) => part.type === 'tool_result')
        .map((part: Body) => part.tool_use_id),
    }),
  },
  {
    name: 'openai-compatible',
    rawArguments: true,
    config: (url) => ({ provider: 'openai-compatible', model: 'gpt-test', base_url: `${url}/v1`, max_output_tokens: 100 }),
    path: /^\/v1\/chat\/completions$/,
    encode: ({ text, calls = [], finish, usage }) => ({
      id: 'c1',
      object: 'chat.completion',
      created: 1,
      model: 'gpt-test',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: text ?? null,
            ...(calls.length > 0
              ? {
                  tool_calls: calls.map((call) => ({
                    id: call.id,
                    type: 'function',
                    function: { name: call.name, arguments: call.arguments },
                  })),
                }
              : {}),
          },
          finish_reason: { stop: 'stop', tool_calls: 'tool_calls', length: 'length', refusal: 'content_filter' }[finish],
        },
      ],
      ...(usage
        ? { usage: { prompt_tokens: usage.prompt, completion_tokens: usage.completion, total_tokens: usage.prompt + usage.completion } }
        : {}),
    }),
    readRequest: (body: Body) => ({
      tools: (body.tools ?? []).map((tool: Body) => tool.function.name),
      resultIds: body.messages.filter((message: Body) => message.role === 'tool').map((message: Body) => message.tool_call_id),
    }),
  },
  {
    name: 'bedrock',
    rawArguments: false,
    config: (url) => ({ provider: 'bedrock', model: 'anthropic.claude-test', region: 'us-east-1', base_url: url, max_output_tokens: 100 }),
    path: /^\/model\/anthropic\.claude-test\/converse$/,
    encode: ({ text, calls = [], finish, usage }) => ({
      output: {
        message: {
          role: 'assistant',
          content: [
            ...(text === undefined ? [] : [{ text }]),
            ...calls.map((call) => ({ toolUse: { toolUseId: call.id, name: call.name, input: JSON.parse(call.arguments) } })),
          ],
        },
      },
      stopReason: { stop: 'end_turn', tool_calls: 'tool_use', length: 'max_tokens', refusal: 'content_filtered' }[finish],
      ...(usage
        ? { usage: { inputTokens: usage.prompt, outputTokens: usage.completion, totalTokens: usage.prompt + usage.completion } }
        : {}),
      metrics: { latencyMs: 1 },
    }),
    readRequest: (body: Body) => ({
      tools: (body.toolConfig?.tools ?? []).map((tool: Body) => tool.toolSpec.name),
      resultIds: body.messages
        .flatMap((message: Body) => message.content)
        .filter((part: Body) => part.toolResult)
        .map((part: Body) => part.toolResult.toolUseId),
    }),
  },
];
