import type { ToolForModel } from '../hands/define-tool.ts';
import type { Json, JsonObject } from '../json.ts';

/** The prompt, free of any provider's shape. Every call in it has its observation (design 3.3). */
export type PromptMessage =
  | { role: 'user'; text: string }
  | { role: 'assistant'; text: string; calls: { id: string; name: string; arguments: JsonObject }[] }
  | { role: 'tool'; results: { id: string; name: string; text: string; isError: boolean }[] };

export interface ModelRequest {
  readonly system: string;
  readonly messages: readonly PromptMessage[];
  readonly tools: readonly ToolForModel[];
  readonly toolChoice: 'auto' | 'none';
  readonly signal: AbortSignal;
}

/** A tool call as the LLM wrote it. `arguments` is the raw text where the provider sends text, else parsed JSON. */
export interface RawCall {
  readonly id: string | undefined;
  readonly name: string;
  readonly arguments: string | Json | undefined;
}

export interface ModelReply {
  readonly text: string;
  readonly calls: readonly RawCall[];
  /** Undefined in every field the provider did not report. */
  readonly usage: { promptTokens: number | undefined; completionTokens: number | undefined; totalTokens: number | undefined };
  /** `length`: the response was cut short. `refusal`: the provider or model declined. Trust `calls`, not this. */
  readonly finish: 'stop' | 'tool_calls' | 'length' | 'refusal' | 'other';
}

/** One LLM. Retries of its transport (429, 5xx, connection) are its own; what outlives them is thrown. */
export interface Model {
  /** `<provider>/<model>`: the key of the price table, shown to people. */
  readonly id: string;
  generate(request: ModelRequest): Promise<ModelReply>;
}
