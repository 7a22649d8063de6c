import type { BuiltIn } from '../built-in.ts';
import { askUser } from './ask-user.ts';
import { loadSkill } from './load-skill.ts';
import { runBtSkill } from './run-bt-skill.ts';

/** Every tool that `reason` carries out itself. A line each. */
export const builtIns: readonly BuiltIn[] = [askUser, loadSkill, runBtSkill];
