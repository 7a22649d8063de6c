import type { SkillMeans } from '../adapters/skills/in-process.ts';
import { createSkillFetch, type SkillFetchOptions } from '../adapters/skills/skill-fetch.ts';
import type { Workspaces } from '../core/ports/workspace.ts';
import type { HandlerSkill } from '../core/skills/skill.ts';
import { VERSION } from './version.ts';

/** What a handler skill works with: the hosts that its own permissions name, and the sessions' files. */
export function skillMeans(
  { tool }: Pick<HandlerSkill, 'tool'>,
  workspaces: Workspaces | undefined,
  web: Pick<SkillFetchOptions, 'resolve' | 'connectTo'> = {},
): SkillMeans {
  const { allowedDomains = [], allowedPorts } = tool.permissions.network ?? {};
  return { fetch: createSkillFetch({ policy: { allowedDomains, allowedPorts }, userAgent: `Handrail/${VERSION}`, ...web }), workspaces };
}
