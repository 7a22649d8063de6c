import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { treeSkillsOf } from '../../adapters/skills/tree-skills.ts';
import type { TreeSkill } from '../../core/loop/deps.ts';
import { drawMermaid, drawText, nodeStatuses } from '../../core/trees/draw.ts';
import type { TreeState } from '../../core/trees/state.ts';
import { nodePaths } from '../../core/trees/tree.ts';
import { loadConfig } from '../../runtime/config.ts';
import { loadConfiguredSkills } from '../../runtime/skills.ts';
import type { ApiClient } from '../client.ts';
import type { Handler } from '../command.ts';
import { withConnection } from '../connection.ts';
import { EXIT } from '../exit-codes.ts';
import { parseOptions, usageError } from '../failure.ts';
import { printJson } from '../print-json.ts';

const CONFIG_FILE = 'handrail.config.yaml';
const showOptions = z.object({
  url: z.url().optional(),
  run: z.string().optional(),
  mermaid: z.boolean().default(false),
  json: z.boolean().default(false),
});

/** What an event of a node says; the newest of a node counts, since a retry carries it out again. */
const nodeEventSchema = z.object({ skill: z.string(), node: z.string(), stage: z.enum(['started', 'completed']), ok: z.boolean() });

/** `handrail tree show <skill>`: the tree as text or Mermaid, with what became of its nodes in a run. */
export const showTree: Handler = async (command, [name = ''], raw) => {
  const { url, run, mermaid, json } = parseOptions(showOptions, raw);
  const { cwd, stdout } = command.context;
  const trees = treeSkillsOf(loadConfiguredSkills(loadConfig(join(cwd, CONFIG_FILE), readIfThere), cwd).catalogue);
  const skill = trees.get(name);
  if (!skill) throw usageError(`there is no tree skill "${name}"; there are: ${[...trees.keys()].join(', ') || 'none'}`);
  const state = run === undefined ? undefined : await withConnection(command, url, 'look', ({ client }) => stateIn(client, run, skill));
  if (json)
    printJson(command.context, {
      skill: name,
      tree: skill.tree.root,
      ...(state ? { statuses: Object.fromEntries(nodeStatuses(skill.tree, state)) } : {}),
    });
  else stdout.write(`${(mermaid ? drawMermaid : drawText)(skill.tree, state).trimEnd()}\n`);
  return EXIT.ok;
};

/** What the event log of a run says of the skill's nodes: those whose call has been observed. */
async function stateIn(client: ApiClient, runId: string, { name: skill, tree }: TreeSkill): Promise<TreeState> {
  // A set node always succeeds and has no event of its own.
  const silent = [...nodePaths(tree)]
    .filter(([, { node }]) => node.type === 'set')
    .map(([path]) => [path, { status: 'success' as const }] as const);
  const state: TreeState = Object.fromEntries(silent);
  for (let after = 0, more = true; more; ) {
    const page = await client.listEvents(runId, after);
    for (const { type, data } of page.events) {
      const event = type === 'bt.skill.node.io' ? nodeEventSchema.safeParse(data) : undefined;
      if (event?.success && event.data.skill === skill && event.data.stage === 'completed')
        state[event.data.node] = { status: event.data.ok ? 'success' : 'failure' };
    }
    ({ more } = page);
    after = page.next;
  }
  return state;
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
