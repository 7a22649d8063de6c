import { EmbeddedEngine } from '../../lib/adapters/engine/embedded.ts';
import { suspend } from '../../lib/core/guard/approvals/suspend.ts';
import { runCall } from '../../lib/core/hands/lifecycle.ts';
import type { JsonObject } from '../../lib/core/json.ts';
import type { LoopDeps } from '../../lib/core/loop/deps.ts';
import { suspendEventSchema } from '../../lib/core/loop/plan.ts';
import { reason } from '../../lib/core/loop/reason.ts';
import { silentLogger } from '../../lib/core/ports/logger.ts';
import type { LoopRig } from './loop-rig.ts';

export interface EngineLoop {
  readonly deps: LoopDeps;
  readonly engine: EmbeddedEngine;
  /** What each function was invoked with, in order. */
  readonly events: { readonly reason: JsonObject[]; readonly suspend: JsonObject[]; readonly tool: JsonObject[] };
  /** How each execution ended, by name. */
  readonly ended: Map<string, string>;
}

/** The functions of `rig` behind the embedded engine, which runs `definition`. */
export function engineLoop(rig: LoopRig, definition: JsonObject): EngineLoop {
  const events: EngineLoop['events'] = { reason: [], suspend: [], tool: [] };
  const ended = new Map<string, string>();
  const engine = new EmbeddedEngine({
    definition,
    waitMs: 0,
    retryMs: 0,
    handlers: {
      reason: async (event) => {
        events.reason.push(structuredClone(event) as JsonObject);
        return reason(deps, event);
      },
      suspend: async (event) => {
        events.suspend.push(structuredClone(event) as JsonObject);
        return suspend(deps, suspendEventSchema.parse(event));
      },
      tool: async (_name, call) => {
        events.tool.push(structuredClone(call) as JsonObject);
        return runCall(call, {
          handlers: rig.handlers,
          services: {},
          clock: rig.clock,
          logger: silentLogger,
          startTimer: () => () => undefined,
        });
      },
    },
    onClosed: ({ name, status }) => ended.set(name, status),
  });
  const deps: LoopDeps = { ...rig.deps, engine };
  return { deps, engine, events, ended };
}
