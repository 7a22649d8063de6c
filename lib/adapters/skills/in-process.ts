import type { ToolHandler } from '../../core/hands/category.ts';
import type { Workspaces } from '../../core/ports/workspace.ts';
import type { SkillHandler } from '../../core/skills/context.ts';
import { skillError, skillOutput } from '../../core/skills/handler-result.ts';
import { wantsOf } from '../../core/skills/permissions.ts';
import { permittedWorkspace } from '../../core/skills/permitted-workspace.ts';
import type { HandlerSkill } from '../../core/skills/skill.ts';
import { skillContext } from './handler-context.ts';
import type { SkillFetch } from './skill-fetch.ts';

export interface SkillMeans {
  readonly fetch: SkillFetch;
  /** Needed by a skill that may use files. */
  readonly workspaces?: Pick<Workspaces, 'open'> | undefined;
}

/** A handler skill as a tool of this process: of its own Lambda, where nothing else runs. */
export function inProcessHandler({ permissions }: HandlerSkill['tool'], handler: SkillHandler, means: SkillMeans): ToolHandler {
  const wants = wantsOf(permissions);
  return async (args, context) => {
    const session = wants.read || wants.write ? await means.workspaces?.open(context) : undefined;
    const workspace = session && permittedWorkspace(session, permissions);
    try {
      return skillOutput(await handler(args, skillContext({ facts: context, fetch: means.fetch, workspace })));
    } catch (error) {
      throw skillError(error);
    }
  };
}
