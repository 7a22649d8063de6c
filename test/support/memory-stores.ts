import type { JsonObject } from '../../lib/core/json.ts';
import type { Engine } from '../../lib/core/ports/engine.ts';
import type { GuardStore } from '../../lib/core/ports/guard-store.ts';
import type { RunStore } from '../../lib/core/ports/run-store.ts';
import { memoryGuardStore } from './memory-guard-store.ts';
import { memoryRunStore } from './memory-run-store.ts';
import { emptyState, type Gate, type MemoryState } from './memory-state.ts';

/** An engine that starts nothing: tests say which executions run and which tokens wait. */
export class MemoryEngine implements Engine {
  readonly executions = new Map<string, 'running' | 'closed'>();
  readonly inputs = new Map<string, JsonObject>();
  /** Tokens that a task waits with. */
  readonly waiting = new Set<string>();
  /** Tokens that were answered, in order. */
  readonly answered: { token: string; output: JsonObject }[] = [];
  readonly #gate: Gate;

  constructor(gate: Gate) {
    this.#gate = gate;
  }

  async start(name: string, input: JsonObject): Promise<'started' | 'exists'> {
    await this.#gate('start');
    if (this.executions.has(name)) return 'exists';
    this.executions.set(name, 'running');
    this.inputs.set(name, structuredClone(input));
    return 'started';
  }

  async sendTaskSuccess(token: string, output: JsonObject): Promise<'delivered' | 'gone'> {
    await this.#gate('sendTaskSuccess');
    if (!this.waiting.delete(token)) return 'gone';
    this.answered.push({ token, output: structuredClone(output) });
    return 'delivered';
  }

  async status(name: string): Promise<'running' | 'closed' | 'absent'> {
    await this.#gate('status');
    return this.executions.get(name) ?? 'absent';
  }
}

export interface MemoryStores {
  readonly state: MemoryState;
  readonly runs: RunStore;
  readonly guard: GuardStore;
  readonly engine: MemoryEngine;
  /** The same tables and engine, seen through another gate: one for each actor of a test. */
  through(gate: Gate): { runs: RunStore; guard: GuardStore; engine: Engine };
}

/** Run store, guard store and engine over one state, with the conditions of the real ones. */
export function memoryStores(gate: Gate = async () => undefined): MemoryStores {
  const state = emptyState();
  const engine = new MemoryEngine(gate);
  return {
    state,
    runs: memoryRunStore(state, gate),
    guard: memoryGuardStore(state, gate),
    engine,
    through: (own) => ({
      runs: memoryRunStore(state, own),
      guard: memoryGuardStore(state, own),
      engine: {
        start: (name, input) => own('start').then(() => engine.start(name, input)),
        sendTaskSuccess: (token, output) => own('sendTaskSuccess').then(() => engine.sendTaskSuccess(token, output)),
        status: (name) => own('status').then(() => engine.status(name)),
      },
    }),
  };
}
