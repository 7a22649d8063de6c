import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Transition } from '../../lib/adapters/engine/embedded.ts';
import { type ConfigInput, configSchema } from '../../lib/core/config.ts';
import { silentLogger } from '../../lib/core/ports/logger.ts';
import type { Model, ModelReply, ModelRequest, RawCall } from '../../lib/core/ports/model.ts';
import { type LocalOptions, startLocal } from '../../lib/runtime/local.ts';
import { systemClock, systemRandom } from '../../lib/runtime/system.ts';
import { apiClient } from '../e2e/api-client.ts';
import { brokenPrompt } from './schedule.ts';

/** What the LLM says: text, or calls as [tool, arguments]. Arguments that are an object are sent as JSON text. */
export type ReplayTurn =
  | string
  | { readonly text?: string; readonly calls: readonly (readonly [string, unknown?])[]; readonly finish?: ModelReply['finish'] };

/** A run in play, with every request its LLM was sent. */
export interface Played {
  readonly runId: string;
  readonly prompts: readonly ModelRequest[];
}

export interface ReplayServer {
  /** Of the server that runs now. */
  readonly api: ReturnType<typeof apiClient>;
  readonly url: string;
  readonly authorization: string;
  /** Starts a run over the API whose LLM says `turns`, one after another, or what a function of the number of calls so far says. */
  play(turns: readonly ReplayTurn[] | ((turn: number) => ReplayTurn), rest?: Record<string, unknown>): Promise<Played>;
  /** The process ends, and another goes on with its directory. */
  restart(): Promise<void>;
  sweep(): Promise<unknown>;
  /** States that executions of a run entered, in order, as `<execution>/<state>`. */
  states(runId: string): readonly string[];
  close(): Promise<void>;
}

export interface ReplayOptions extends Pick<LocalOptions, 'web'> {
  /** @default the system's */
  readonly clock?: LocalOptions['clock'];
  /** Text by path, beside the configuration: skills. */
  readonly files?: Readonly<Record<string, string>>;
}

/** The whole product in this process, driven over HTTP, with an LLM that the test plays. */
export async function replayServer(config: ConfigInput = {}, more: ReplayOptions = {}): Promise<ReplayServer> {
  const directory = await mkdtemp(join(tmpdir(), 'handrail-replay-'));
  for (const [path, text] of Object.entries(more.files ?? {})) {
    await mkdir(dirname(join(directory, path)), { recursive: true });
    await writeFile(join(directory, path), text);
  }
  const scripts = new Map<string, { turns: (turn: number) => ReplayTurn | undefined; prompts: ModelRequest[] }>();
  const transitions: Transition[] = [];
  const start = () =>
    startLocal({
      directory,
      port: 0,
      config: configSchema.parse(config),
      configDirectory: directory,
      choice: { model: { provider: 'scripted', model: 'replay', script: 'none' }, because: 'a replay', demo: false },
      clock: more.clock ?? systemClock,
      random: systemRandom,
      logger: silentLogger,
      environment: {},
      model: replayModel(scripts),
      engine: { waitMs: 20, retryMs: 20, onTransition: (transition) => transitions.push(transition) },
      sweepMs: 200,
      web: more.web,
    });
  let runtime = await start();
  const connection = () => ({ url: runtime.url, authorization: `Bearer ${runtime.secret}` });
  return {
    get api() {
      return apiClient(connection());
    },
    get url() {
      return runtime.url;
    },
    get authorization() {
      return connection().authorization;
    },
    async play(turns, rest = {}) {
      const input = `replay ${scripts.size + 1}:`;
      const prompts: ModelRequest[] = [];
      scripts.set(input, { turns: typeof turns === 'function' ? turns : (turn) => turns[turn], prompts });
      return { runId: await apiClient(connection()).start(`${input} go`, rest), prompts };
    },
    async restart() {
      await runtime.close();
      runtime = await start();
    },
    sweep: () => runtime.sweep(),
    states: (runId) =>
      transitions.filter(({ execution }) => execution.startsWith(`${runId}-`)).map(({ execution, state }) => `${execution}/${state}`),
    async close() {
      await runtime.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

function replayModel(scripts: ReadonlyMap<string, { turns: (turn: number) => ReplayTurn | undefined; prompts: ModelRequest[] }>): Model {
  return {
    id: 'replay/model',
    async generate(request) {
      const asked = request.messages.findLast((message) => message.role === 'user' && message.text.startsWith('replay '));
      const input = asked?.role === 'user' ? asked.text.slice(0, asked.text.indexOf(':') + 1) : '';
      const script = scripts.get(input);
      if (!script) throw new Error(`no replay has the input ${input}`);
      const turn = script.turns(script.prompts.length);
      script.prompts.push(request);
      if (turn === undefined) throw new Error(`the replay has no turn ${script.prompts.length}`);
      return replyOf(turn);
    },
  };
}

function replyOf(turn: ReplayTurn): ModelReply {
  const usage = { promptTokens: 10, completionTokens: 5, totalTokens: undefined };
  if (typeof turn === 'string') return { text: turn, calls: [], usage, finish: 'stop' };
  const calls = turn.calls.map(
    ([name, args], index): RawCall => ({
      id: `call_${index}`,
      name,
      arguments: typeof args === 'object' && args !== null ? JSON.stringify(args) : (args as string | null | undefined),
    }),
  );
  return { text: turn.text ?? '', calls, usage, finish: turn.finish ?? 'tool_calls' };
}

/** What came back for each call of the newest tool message of a request, in order. */
export function resultsIn(request: ModelRequest | undefined): { id: string; name: string; text: string; isError: boolean }[] {
  const newest = request?.messages.findLast((message) => message.role === 'tool');
  return newest?.role === 'tool' ? newest.results : [];
}

/** Everything that a provider would refuse in any of the requests. */
export const faultsIn = (requests: readonly ModelRequest[]): string[] => requests.flatMap(brokenPrompt);
