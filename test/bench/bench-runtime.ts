import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConfigInput, configSchema } from '../../lib/core/config.ts';
import { silentLogger } from '../../lib/core/ports/logger.ts';
import type { Model, ModelReply, ModelRequest } from '../../lib/core/ports/model.ts';
import { type LocalOptions, type LocalRuntime, startLocal } from '../../lib/runtime/local.ts';
import type { LocalModelChoice } from '../../lib/runtime/local-model.ts';
import { systemClock, systemRandom } from '../../lib/runtime/system.ts';
import { apiClient } from '../e2e/api-client.ts';

const NO_DEMO: LocalModelChoice = { model: { provider: 'scripted', model: 'bench', script: 'none' }, because: 'a benchmark', demo: false };

/** A laptop runtime in a directory of its own for as long as `use` takes. */
export async function withRuntime<T>(
  options: { readonly model: Model; readonly config?: ConfigInput } & Pick<LocalOptions, 'engine' | 'onRequest'>,
  use: (api: ReturnType<typeof apiClient>, runtime: LocalRuntime) => Promise<T>,
): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'handrail-bench-'));
  const { config, ...rest } = options;
  const runtime = await startLocal({
    directory,
    port: 0,
    config: configSchema.parse(config ?? {}),
    configDirectory: directory,
    choice: NO_DEMO,
    clock: systemClock,
    random: systemRandom,
    logger: silentLogger,
    environment: {},
    ...rest,
  });
  try {
    return await use(apiClient({ url: runtime.url, authorization: `Bearer ${runtime.secret}` }), runtime);
  } finally {
    await runtime.close();
    await rm(directory, { recursive: true, force: true });
  }
}

/** An LLM that asks for `calls` as often as `turns` says, then answers. `asked` is called at each LLM call, `said` when it answers. */
export function benchModel(
  calls: readonly (readonly [string, object])[],
  turns: number,
  asked: (request: ModelRequest, turn: number) => void,
  said: () => void = () => undefined,
): Model {
  return {
    id: 'bench/model',
    async generate(request): Promise<ModelReply> {
      const since = request.messages.slice(request.messages.findLastIndex((message) => message.role === 'user') + 1);
      const turn = turnOf(request, since.filter((message) => message.role === 'assistant').length);
      asked(request, turn);
      const usage = { promptTokens: 100, completionTokens: 20, totalTokens: 120 };
      said();
      if (turn >= turns) return { text: 'done', calls: [], usage, finish: 'stop' };
      return {
        text: `turn ${turn}`,
        calls: calls.map(([name, args], index) => ({ id: `b${turn}-${index}`, name, arguments: JSON.stringify(args) })),
        usage,
        finish: 'tool_calls',
      };
    },
  };
}

/** Older turns fall out of the window: the newest one says which it was. */
function turnOf(request: ModelRequest, counted: number): number {
  const newest = request.messages.findLast((message) => message.role === 'assistant');
  const match = newest?.role === 'assistant' ? /^turn (\d+)$/.exec(newest.text) : null;
  return match ? Number(match[1]) + 1 : counted;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

export const round = (value: number, digits = 1): number => Number(value.toFixed(digits));
