import {
  APICallError,
  type LanguageModelV3,
  type LanguageModelV3CallOptions,
  type LanguageModelV3GenerateResult,
  type LanguageModelV3Prompt,
} from '@ai-sdk/provider';
import { jsonObjectSchema } from '../../core/json.ts';
import type { Clock, Random } from '../../core/ports/clock.ts';
import type { Model, ModelReply, ModelRequest, PromptMessage } from '../../core/ports/model.ts';
import { MASK, maskSecrets } from '../../core/preview.ts';

const RETRIES = 4;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 20_000;
const DETAIL_CHARACTERS = 500;

export interface LanguageModelOptions {
  readonly id: string;
  readonly maxOutputTokens: number;
  readonly temperature: number | undefined;
  /** Of the provider; never in what its errors say, whatever it looks like. */
  readonly apiKey?: string | undefined;
  /** The provider cannot forbid tools while the history holds calls: with `toolChoice: none` it is sent as text. */
  readonly historyAsText: boolean;
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * A provider of the AI SDK as our Model. The SDK's own tool loop is left out: the calls' raw text is wanted, since
 * repairing it is decided in core (design 6.3). Retries 429, 408, 409, 5xx and lost connections, as the provider's
 * `retry-after` says, else 1, 2, 4, 8 s with jitter; what outlives them is thrown.
 */
export function fromLanguageModel(languageModel: LanguageModelV3, options: LanguageModelOptions): Model {
  return {
    id: options.id,
    async generate(request) {
      const callOptions = toCallOptions(request, options);
      for (let attempt = 0; ; attempt++) {
        try {
          return toReply(await languageModel.doGenerate(callOptions));
        } catch (error) {
          if (attempt >= RETRIES || request.signal.aborted || !APICallError.isInstance(error) || !error.isRetryable)
            throw described(error, options.apiKey);
          await options.clock.sleep(pauseMs(error, attempt, options.random));
        }
      }
    },
  };
}

/** An error whose message says what the provider said, not only its status, and never the key, which some repeat. */
function described(error: unknown, apiKey: string | undefined): unknown {
  if (!APICallError.isInstance(error)) return error;
  const { message, responseBody = '', statusCode = '' } = error;
  const hidden = (text: string): string => maskSecrets(apiKey ? text.replaceAll(apiKey, MASK) : text);
  const isTold = responseBody === '' || responseBody.includes(message);
  const said = isTold ? hidden(message) : `${statusCode} ${hidden(message)}: ${hidden(responseBody).slice(0, DETAIL_CHARACTERS)}`.trim();
  return said === message ? error : new Error(said, { cause: error });
}

/** Stands for "not reported" in a field that a provider's client demands. */
const UNREPORTED = -1;

/**
 * `fetch` for a provider whose client refuses responses without usage, as proxies send them: `usage` is put in
 * their place with numbers that mean "not reported". Budgets then count an estimate instead of nothing.
 */
export function fetchFillingUsage(fields: readonly string[]): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    if (!response.ok) return response;
    const text = await response.text();
    const body = jsonObjectSchema.safeParse(parseOrUndefined(text));
    const filled =
      body.success && body.data['usage'] === undefined
        ? JSON.stringify({ ...body.data, usage: Object.fromEntries(fields.map((field) => [field, UNREPORTED])) })
        : text;
    return new Response(filled, {
      status: response.status,
      headers: { 'content-type': response.headers.get('content-type') ?? 'application/json' },
    });
  };
}

function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function pauseMs(error: APICallError, attempt: number, random: Random): number {
  const headers = error.responseHeaders ?? {};
  const millis = Number(headers['retry-after-ms'] ?? Number.NaN);
  const seconds = Number(headers['retry-after'] ?? Number.NaN);
  const told = Number.isFinite(millis) ? millis : seconds * 1000;
  if (Number.isFinite(told) && told >= 0) return Math.min(told, LONGEST_PAUSE_MS);
  return Math.min(FIRST_PAUSE_MS * 2 ** attempt, LONGEST_PAUSE_MS) * (0.5 + random.number() / 2);
}

function toCallOptions(request: ModelRequest, options: LanguageModelOptions): LanguageModelV3CallOptions {
  const plain = request.toolChoice === 'none' && options.historyAsText;
  const tools = request.tools.map((tool) => ({
    type: 'function' as const,
    name: tool.name,
    description: tool.description,
    inputSchema: structuredClone(tool.parameters),
  }));
  return {
    prompt: [
      { role: 'system', content: request.system.toWellFormed() },
      ...(plain ? request.messages.flatMap(asText) : request.messages).flatMap(toPrompt),
    ],
    maxOutputTokens: options.maxOutputTokens,
    ...(options.temperature === undefined ? {} : { temperature: options.temperature }),
    ...(plain || tools.length === 0 ? {} : { tools, toolChoice: { type: request.toolChoice } }),
    abortSignal: request.signal,
  };
}

/** Calls and observations told in words, for a request in which no tool may be named. */
function asText(message: PromptMessage): PromptMessage[] {
  if (message.role === 'tool')
    return [{ role: 'user', text: message.results.map((result) => `[Result of ${result.name}]\n${result.text}`).join('\n\n') }];
  if (message.role === 'user' || message.calls.length === 0) return [message];
  const calls = message.calls.map((call) => `[Called ${call.name} with ${JSON.stringify(call.arguments)}]`);
  return [{ role: 'assistant', text: [message.text, ...calls].filter(Boolean).join('\n'), calls: [] }];
}

function toPrompt(message: PromptMessage): LanguageModelV3Prompt {
  switch (message.role) {
    case 'user':
      return [{ role: 'user', content: [{ type: 'text', text: message.text }] }];
    case 'assistant':
      return [
        {
          role: 'assistant',
          content: [
            ...(message.text === '' ? [] : [{ type: 'text' as const, text: message.text }]),
            ...message.calls.map((call) => ({
              type: 'tool-call' as const,
              toolCallId: call.id,
              toolName: call.name,
              input: call.arguments,
            })),
          ],
        },
      ];
    case 'tool':
      return [
        {
          role: 'tool',
          content: message.results.map((result) => ({
            type: 'tool-result' as const,
            toolCallId: result.id,
            toolName: result.name,
            output: { type: result.isError ? ('error-text' as const) : ('text' as const), value: result.text },
          })),
        },
      ];
  }
}

function toReply(result: LanguageModelV3GenerateResult): ModelReply {
  const text = result.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
  const calls = result.content.flatMap((part) =>
    part.type === 'tool-call' && !part.providerExecuted
      ? [{ id: part.toolCallId || undefined, name: part.toolName, arguments: part.input }]
      : [],
  );
  const { inputTokens, outputTokens } = result.usage;
  return {
    text,
    calls,
    usage: { promptTokens: reported(inputTokens.total), completionTokens: reported(outputTokens.total), totalTokens: undefined },
    finish: FINISH[result.finishReason.unified] ?? 'other',
  };
}

const reported = (tokens: number | undefined): number | undefined => (tokens !== undefined && tokens >= 0 ? tokens : undefined);

const FINISH: Readonly<Record<string, ModelReply['finish']>> = {
  stop: 'stop',
  length: 'length',
  'content-filter': 'refusal',
  'tool-calls': 'tool_calls',
};
