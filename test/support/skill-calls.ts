import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createWorkspaces } from '../../lib/adapters/sandbox/workspace.ts';
import { skillHandlers } from '../../lib/adapters/skills/child-handlers.ts';
import { createSkillFetch, type SkillFetchOptions } from '../../lib/adapters/skills/skill-fetch.ts';
import type { ToolContext, ToolOutput } from '../../lib/core/hands/category.ts';
import type { JsonObject } from '../../lib/core/json.ts';
import type { Workspace } from '../../lib/core/ports/workspace.ts';
import { systemRandom } from '../../lib/runtime/system.ts';
import { loadOne } from './skill-folders.ts';
import { toolContext } from './tool-context.ts';

export interface GivenSkill {
  call(args?: JsonObject, over?: Partial<ToolContext>): Promise<ToolOutput>;
  /** The files of the session that calls. */
  readonly workspace: Workspace;
}

/** A handler skill from the code of its handler, called in a process of its own as on a laptop. */
export async function givenSkill(
  code: string,
  options: {
    readonly frontMatter?: string;
    readonly files?: Readonly<Record<string, string>>;
    readonly web?: Partial<SkillFetchOptions>;
    readonly trusted?: boolean;
  } = {},
): Promise<GivenSkill> {
  const { frontMatter = '', files = {}, web } = options;
  const text = `---\nname: probe\ndescription: A probe.\nparameters: { type: object, additionalProperties: true }\n${frontMatter}---\n`;
  const loaded = loadOne('probe', text, { 'handler.js': code, ...files }, options.trusted ? { trusted: new Set(['probe']) } : {});
  if (loaded.reasons.length > 0) throw new Error(loaded.reasons.join('\n'));
  const workspaces = await createWorkspaces({ root: mkdtempSync(join(tmpdir(), 'handrail-ws-')), random: systemRandom, now: Date.now });
  const handlers = skillHandlers(loaded, ({ tool }) => {
    const { allowedDomains = [], allowedPorts } = tool.permissions.network ?? {};
    return { fetch: createSkillFetch({ policy: { allowedDomains, allowedPorts }, userAgent: 'test', ...web }), workspaces };
  });
  const handler = handlers.get('probe');
  if (!handler) throw new Error('the skill has no handler');
  return {
    call: (args = {}, over = {}) => handler(args, toolContext(over), {}),
    workspace: await workspaces.open({ tenant: 'acme', sessionId: 's1' }),
  };
}
