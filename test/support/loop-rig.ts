import { type ConfigInput, configSchema } from '../../lib/core/config.ts';
import { decide } from '../../lib/core/guard/approvals/decide.ts';
import { suspend } from '../../lib/core/guard/approvals/suspend.ts';
import { pendingCalls } from '../../lib/core/guard/approvals/suspension.ts';
import type { CallResult } from '../../lib/core/hands/call.ts';
import type { Category, ToolContext, ToolHandler } from '../../lib/core/hands/category.ts';
import { defineTool, type ToolDefinitionInput } from '../../lib/core/hands/define-tool.ts';
import { runCall } from '../../lib/core/hands/lifecycle.ts';
import { approvalIdOf, type RunKey } from '../../lib/core/ids.ts';
import type { Json, JsonObject } from '../../lib/core/json.ts';
import { type BuiltIn, createTools } from '../../lib/core/loop/built-in.ts';
import { builtIns } from '../../lib/core/loop/built-ins/index.ts';
import { cancelRun } from '../../lib/core/loop/cancel.ts';
import type { LoopDeps, TreeSkill } from '../../lib/core/loop/deps.ts';
import type { PlacedMessage } from '../../lib/core/loop/message.ts';
import type { ReasonOutput } from '../../lib/core/loop/plan.ts';
import { reason } from '../../lib/core/loop/reason.ts';
import type { Run } from '../../lib/core/loop/run.ts';
import { isTerminal } from '../../lib/core/loop/run-status.ts';
import { settleRun } from '../../lib/core/loop/settle.ts';
import { type StartRequest, startRun } from '../../lib/core/loop/start.ts';
import { sweep } from '../../lib/core/loop/sweep.ts';
import { silentLogger } from '../../lib/core/ports/logger.ts';
import type { Model, ModelReply, ModelRequest } from '../../lib/core/ports/model.ts';
import type { SkillCatalogue } from '../../lib/core/skills/skill.ts';
import type { CoreFunctionName } from '../../lib/function-use.ts';
import { functionDeps } from '../../lib/runtime/function-deps.ts';
import { type MemoryStores, memoryStores } from './memory-stores.ts';
import { seededRandom, TestClock } from './time.ts';

/** A tool of the rig: its definition, and what it does. `runs` counts how often its handler was entered, by call. */
export interface RigTool {
  readonly definition: Partial<ToolDefinitionInput> & { readonly name: string };
  handle?(args: JsonObject, context: ToolContext): Promise<string> | string;
}

/** What the LLM says, turn by turn: text, or calls as [tool, arguments]. */
export type Turn =
  | string
  | { text?: string; calls: readonly (readonly [string, JsonObject | string])[]; usage?: { prompt: number; completion: number } };

export interface RigOptions {
  readonly turns?: readonly Turn[] | ((request: ModelRequest, turn: number) => Turn);
  readonly tools?: readonly RigTool[];
  readonly config?: ConfigInput;
  readonly builtIns?: readonly BuiltIn[];
  readonly skills?: SkillCatalogue;
  /** Of handler skills, by tool name. */
  readonly skillHandlers?: ReadonlyMap<string, ToolHandler>;
  readonly trees?: readonly TreeSkill[];
  readonly seed?: number;
  /** Told what each function reaches of the stores and the engine, such as `runs.getRun`. */
  readonly onUse?: OnUse;
}

export type OnUse = (who: CoreFunctionName, use: string) => void;

/** Faults that a test injects: each is asked at one place and may throw. */
export interface Faults {
  /** Before an operation on a table or the engine. */
  before(operation: string): void;
  /** After a Lambda did its work: thrown = its answer is lost. */
  lost(lambda: 'reason' | 'suspend' | 'tool'): void;
  /** Is this step to run twice at once? */
  twice(): boolean;
  /** Lets others go first, for a random while. */
  yield(): Promise<void>;
}

export const NO_FAULTS: Faults = { before() {}, lost() {}, twice: () => false, async yield() {} };

type State =
  | { at: 'reason'; data: JsonObject }
  | { at: 'route'; output: ReasonOutput }
  | { at: 'suspended'; output: ReasonOutput; token: string }
  | { at: 'closed'; how: 'succeeded' | 'failed' };
const LAMBDA_ATTEMPTS = 4;

/**
 * The whole loop without AWS, a clock that stands still and one thing at a time: executions go forward when the test
 * says so, exactly as the state machine would send them.
 */
export class LoopRig {
  readonly clock = new TestClock();
  readonly stores: MemoryStores;
  readonly deps: LoopDeps;
  readonly prompts: ModelRequest[] = [];
  /** Call id → how often its handler was entered. */
  readonly handled = new Map<string, number>();
  /** Call id → tool, for those. */
  readonly handledTools = new Map<string, string>();
  /** States entered, as AWS bills them, in order. */
  readonly states: string[] = [];
  readonly executions = new Map<string, State>();
  faults: Faults = NO_FAULTS;
  /** As a deployment's `logText`. */
  logText = false;
  /** Of its tools, by name. */
  readonly handlers: ReadonlyMap<string, ToolHandler>;
  readonly #onUse: OnUse | undefined;
  #tokens = 0;

  constructor(options: RigOptions = {}) {
    this.#onUse = options.onUse;
    this.stores = memoryStores(async (operation) => {
      await this.faults.yield();
      this.faults.before(operation);
    });
    const tools = options.tools ?? [{ definition: { name: 'look' } }];
    const category: Category = {
      name: 'file',
      timeoutMs: 5_000,
      memoryMb: 128,
      maxConcurrency: 10,
      needs: [],
      tools: tools.map(({ definition }) =>
        defineTool({ description: 'A tool.', parameters: { type: 'object', additionalProperties: true }, category: 'file', ...definition }),
      ),
    };
    this.handlers = new Map([
      ...tools.map((tool): [string, ToolHandler] => [tool.definition.name, this.#handler(tool)]),
      ...(options.skillHandlers ?? []),
    ]);
    const config = configSchema.parse(options.config ?? {});
    this.deps = {
      runs: this.stores.runs,
      guard: this.stores.guard,
      clock: this.clock,
      random: seededRandom(options.seed ?? 1),
      logger: silentLogger,
      config,
      engine: {
        start: (name, input) => this.#start(name, input),
        sendTaskSuccess: (token) => this.#wake(token),
        status: async (name) => this.#status(name),
      },
      trees: new Map((options.trees ?? []).map((skill) => [skill.name, skill])),
      ...createTools([category], options.builtIns ?? builtIns, config.security, options.skills),
      skills: options.skills,
      model: async () => this.#model(options.turns ?? ['done']),
      functionName: (name) => `tool-${name}`,
    };
  }

  /** What a deployed function has: a call that its role would be refused fails here too. */
  as(name: CoreFunctionName): LoopDeps {
    const { runs, guard, engine } = this.deps;
    const onUse = this.#onUse;
    if (onUse === undefined) return functionDeps(name, this.deps);
    const told = <Port extends object>(port: Port, label: string): Port => watched(port, (method) => onUse(name, `${label}.${method}`));
    return functionDeps(name, { ...this.deps, runs: told(runs, 'runs'), guard: told(guard, 'guard'), engine: told(engine, 'engine') });
  }

  start(input = 'go', rest: Partial<StartRequest> = {}): Promise<Run> {
    return startRun(this.as('api'), { tenant: 't1', principal: 'ann', input, ...rest });
  }

  /** Starts a run and drives it until nothing moves without a person or a clock. */
  async run(input = 'go', rest: Partial<StartRequest> = {}): Promise<Run> {
    const { runId } = await this.start(input, rest);
    return this.settle(runId);
  }

  /** Drives every execution as far as it goes by itself; the run as it then stands. */
  async settle(runId: string): Promise<Run> {
    for (let moved = true; moved; ) {
      moved = false;
      for (const name of this.executions.keys()) while (await this.advance(name)) moved = true;
    }
    return this.get(runId);
  }

  async get(runId: string): Promise<Run> {
    const run = await this.stores.through(async () => undefined).runs.getRun({ tenant: 't1', runId });
    if (!run) throw new Error(`no run ${runId}`);
    return run;
  }

  /** One state forward. False when it is closed or waits for a token. */
  async advance(name: string): Promise<boolean> {
    const state = this.executions.get(name);
    if (!state || state.at === 'closed' || state.at === 'suspended') return false;
    if (state.at === 'reason') {
      this.states.push('Reason');
      const output = await this.#lambda('reason', () => reason(this.as('reason'), { data: state.data, execution: name }));
      this.executions.set(name, output ? { at: 'route', output } : { at: 'closed', how: 'failed' });
      return true;
    }
    this.states.push('Route');
    this.executions.set(name, await this.#route(name, state.output));
    return true;
  }

  async #route(name: string, output: ReasonOutput): Promise<State> {
    const { ctx } = output;
    switch (output.next) {
      case 'reason':
        return { at: 'reason', data: { ctx } };
      case 'act': {
        this.states.push('Act');
        const calls: Json[] = [];
        for (const call of output.calls ?? []) calls.push(await this.#invoke(JSON.parse(JSON.stringify(call)) as JsonObject));
        return { at: 'reason', data: { ctx, next: 'act', calls } };
      }
      case 'suspend': {
        this.states.push('Suspend');
        for (let attempt = 0; attempt < LAMBDA_ATTEMPTS; attempt++) {
          const token = `token-${++this.#tokens}`;
          this.executions.set(name, { at: 'suspended', output, token });
          try {
            await suspend(this.as('suspend'), { ctx, token, execution: name });
            this.faults.lost('suspend');
            return this.executions.get(name) ?? { at: 'closed', how: 'failed' };
          } catch {
            // The callback may have come although the Lambda failed; then the task is over.
            const now = this.executions.get(name);
            if (now?.at !== 'suspended') return now ?? { at: 'closed', how: 'failed' };
          }
        }
        return { at: 'closed', how: 'failed' };
      }
      case 'wait':
        this.states.push('Wait');
        this.clock.advance((output.seconds ?? 0) * 1000);
        return { at: 'reason', data: { ctx, next: 'wait' } };
      case 'continue':
        this.states.push('Continue');
        for (let attempt = 0; attempt < LAMBDA_ATTEMPTS; attempt++) {
          try {
            await this.#start(output.name ?? '', { ctx: { ...ctx } });
            break;
          } catch {}
        }
        return { at: 'closed', how: 'succeeded' };
      case 'finish':
        this.states.push('Finish');
        return { at: 'closed', how: 'succeeded' };
    }
  }

  async #invoke(call: JsonObject): Promise<JsonObject> {
    const retries = call['idempotent'] === true ? Number(call['maxRetries']) : 0;
    for (let attempt = 0; ; attempt++) {
      this.states.push('Invoke');
      try {
        const result: CallResult = await runCall(call, {
          handlers: this.handlers,
          services: {},
          clock: this.clock,
          logger: this.deps.logger,
          logText: this.logText,
          startTimer: () => () => undefined,
        });
        this.faults.lost('tool');
        return JSON.parse(JSON.stringify(result)) as JsonObject;
      } catch (error) {
        const name = error instanceof Error ? error.name : 'Error';
        if (name.startsWith('RETRY_') && attempt < retries) continue;
        return {
          callId: call['callId'] ?? '',
          error: { Error: name, Cause: JSON.stringify({ errorType: name, errorMessage: error instanceof Error ? error.message : '' }) },
        };
      }
    }
  }

  async #lambda<T>(lambda: 'reason', work: () => Promise<T>): Promise<T | undefined> {
    for (let attempt = 0; attempt < LAMBDA_ATTEMPTS; attempt++) {
      try {
        const answer = this.faults.twice() ? await firstToEnd([work(), work()]) : await work();
        this.faults.lost(lambda);
        return answer;
      } catch (error) {
        if (this.faults === NO_FAULTS) throw error;
      }
    }
    return undefined;
  }

  async #start(name: string, input: JsonObject): Promise<'started' | 'exists'> {
    this.faults.before('engine.start');
    if (this.executions.has(name)) return 'exists';
    this.executions.set(name, { at: 'reason', data: JSON.parse(JSON.stringify(input)) as JsonObject });
    return 'started';
  }

  async #wake(token: string): Promise<'delivered' | 'gone'> {
    this.faults.before('engine.send');
    for (const [name, state] of this.executions) {
      if (state.at !== 'suspended' || state.token !== token) continue;
      this.executions.set(name, { at: 'reason', data: { ctx: { ...state.output.ctx }, next: 'suspend', woke: {} } });
      return 'delivered';
    }
    return 'gone';
  }

  #status(name: string): 'running' | 'closed' | 'absent' {
    this.faults.before('engine.status');
    const state = this.executions.get(name);
    if (!state) return 'absent';
    return state.at === 'closed' ? 'closed' : 'running';
  }

  #handler(tool: RigTool): ToolHandler {
    return async (args, context) => {
      this.handled.set(context.callId, (this.handled.get(context.callId) ?? 0) + 1);
      this.handledTools.set(context.callId, tool.definition.name);
      return { text: (await tool.handle?.(args, context)) ?? `${tool.definition.name} ok` };
    };
  }

  #model(turns: NonNullable<RigOptions['turns']>): Model {
    return {
      id: 'rig/model',
      generate: async (request): Promise<ModelReply> => {
        this.prompts.push(request);
        const last = request.messages.findLastIndex((message) => message.role === 'user');
        const said = request.messages.slice(last + 1).filter((message) => message.role === 'assistant').length;
        const turn = typeof turns === 'function' ? turns(request, said) : turns[said];
        if (turn === undefined) throw new Error(`the test has no turn ${said + 1}`);
        if (typeof turn === 'string') return { text: turn, calls: [], usage: tokens(undefined), finish: 'stop' };
        const calls = turn.calls.map(([name, args], index) => ({
          id: `p${said}-${index}`,
          name,
          arguments: typeof args === 'string' ? args : JSON.stringify(args),
        }));
        return { text: turn.text ?? '', calls, usage: tokens(turn.usage), finish: 'tool_calls' };
      },
    };
  }

  /** Approval ids of a run that are pending now. */
  async pending(runId: string): Promise<string[]> {
    const run = await this.get(runId);
    if (run.plan?.next !== 'suspend') return [];
    const suspension = await this.stores.through(async () => undefined).guard.getSuspension(run.plan.suspensionId);
    return suspension ? pendingCalls(suspension).map((callId) => approvalIdOf(suspension.suspensionId, callId)) : [];
  }

  decide(decisions: Parameters<typeof decide>[1]['decisions'], by = 'bob'): ReturnType<typeof decide> {
    return decide(this.as('api'), { tenant: 't1', principal: by, how: 'api', decisions });
  }

  cancel(runId: string): Promise<Run> {
    return cancelRun(this.as('api'), { tenant: 't1', runId }, 'ann');
  }

  sweep(): ReturnType<typeof sweep> {
    return sweep(this.as('sweep'));
  }

  settleClosed(run: RunKey, name: string): ReturnType<typeof settleRun> {
    return settleRun(this.as('settle'), { tenant: run.tenant, runId: run.runId }, name, 'the execution failed');
  }

  /** The main transcript of a run's session as stored. */
  async transcript(run: Run): Promise<PlacedMessage[]> {
    return this.stores.through(async () => undefined).runs.readTranscript(run, run.frames[0]?.head, 10_000);
  }
}

const tokens = (usage: { prompt: number; completion: number } | undefined): ModelReply['usage'] => ({
  promptTokens: usage?.prompt ?? 10,
  completionTokens: usage?.completion ?? 5,
  totalTokens: undefined,
});

/** `port`, whose every use is told by the name of the method. */
export function watched<Port extends object>(port: Port, onUse: (method: string) => void): Port {
  return new Proxy(port, {
    get(target, method) {
      const value: unknown = Reflect.get(target, method);
      if (typeof value === 'function') onUse(String(method));
      return value;
    },
  });
}

export const ended = (run: Run): boolean => isTerminal(run);

/** Lambda was invoked twice: the machine takes the answer that comes first, and both run to their end. */
async function firstToEnd<T>(attempts: readonly Promise<T>[]): Promise<T> {
  const first = Promise.any(attempts);
  await Promise.allSettled(attempts);
  return first;
}
