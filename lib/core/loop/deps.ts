import type { AgentConfig, Config } from '../config.ts';
import type { Announcer } from '../guard/approvals/notify.ts';
import type { CustomCheckers } from '../guard/custom-checkers.ts';
import type { Registry } from '../hands/registry.ts';
import type { Clock, Random } from '../ports/clock.ts';
import type { Engine } from '../ports/engine.ts';
import type { GuardStore } from '../ports/guard-store.ts';
import type { Logger } from '../ports/logger.ts';
import type { Model } from '../ports/model.ts';
import type { RunStore } from '../ports/run-store.ts';
import type { BuiltIns } from './built-in.ts';

/** All that the loop needs from outside. */
export interface LoopDeps {
  readonly runs: RunStore;
  readonly guard: GuardStore;
  readonly engine: Engine;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly config: Config;
  readonly registry: Registry;
  /** What `reason` carries out itself, from `createTools`. */
  readonly builtIns: BuiltIns;
  /** Absent: there are none. */
  readonly skills?: SkillCatalogue | undefined;
  /** How people are told that they are asked; absent: they look for themselves. */
  readonly announcer?: Announcer | undefined;
  /** The operator's own checkers; absent = none. */
  readonly customCheckers?: CustomCheckers | undefined;
  /** The LLM of an agent. */
  model(agent: AgentConfig): Promise<Model>;
  /** Name of the Lambda that runs a category's tools. */
  functionName(category: string): string;
}
