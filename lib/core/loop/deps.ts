import type { AgentConfig, Config } from '../config.ts';
import type { Announcer } from '../guard/approvals/notify.ts';
import type { Constraints } from '../guard/constraints.ts';
import type { CustomCheckers } from '../guard/custom-checkers.ts';
import type { Registry } from '../hands/registry.ts';
import type { JsonObject } from '../json.ts';
import type { Clock, Random } from '../ports/clock.ts';
import type { Engine } from '../ports/engine.ts';
import type { GuardStore } from '../ports/guard-store.ts';
import type { Logger } from '../ports/logger.ts';
import type { Model } from '../ports/model.ts';
import type { RunStore } from '../ports/run-store.ts';
import type { SkillCatalogue } from '../skills/skill.ts';
import type { Tree } from '../trees/tree.ts';
import type { BuiltIns } from './built-in.ts';

/** A skill of kind tree, as the loop runs it (design section 8). Schemas are JSON Schemas of objects. */
export interface TreeSkill {
  readonly name: string;
  readonly description: string;
  readonly tree: Tree;
  readonly inputs: JsonObject | undefined;
  readonly outputs: JsonObject | undefined;
  /** Key of the blackboard whose value is the `skill_result`. */
  readonly resultKey: string;
  readonly constraints: Constraints | undefined;
}

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
  /** Tree skills by name; absent: there are none. */
  readonly trees?: ReadonlyMap<string, TreeSkill> | undefined;
  /** How people are told that they are asked; absent: they look for themselves. */
  readonly announcer?: Announcer | undefined;
  /** The operator's own checkers; absent = none. */
  readonly customCheckers?: CustomCheckers | undefined;
  /** The LLM of an agent. */
  model(agent: AgentConfig): Promise<Model>;
  /** Name of the Lambda that runs a category's tools; a handler skill has one of its own, named after its tool. */
  functionName(category: string, tool: string): string;
}
