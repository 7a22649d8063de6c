import { join } from 'node:path';
import { HandrailError } from '../../core/errors.ts';
import type { ToolContext, ToolHandler } from '../../core/hands/category.ts';
import type { Workspace } from '../../core/ports/workspace.ts';
import { skillError, skillOutput } from '../../core/skills/handler-result.ts';
import { wantsOf } from '../../core/skills/permissions.ts';
import { permittedWorkspace } from '../../core/skills/permitted-workspace.ts';
import type { HandlerSkill } from '../../core/skills/skill.ts';
import { runSkillChild, type SkillChildEnd } from './child-host.ts';
import type { SkillMeans } from './in-process.ts';
import type { LoadedSkills } from './load.ts';
import type { FromChild, Means, ToChild } from './pipe.ts';

/**
 * Every handler skill as a tool, by tool name: each call in a process of its own (design section 7), which reaches files and
 * network only through here. `means`: per skill, since each has its own hosts.
 */
export function skillHandlers(
  { catalogue, folders }: LoadedSkills,
  means: (skill: HandlerSkill) => SkillMeans,
): ReadonlyMap<string, ToolHandler> {
  const entries = catalogue.skills.flatMap((skill): [string, ToolHandler][] => {
    const folder = folders.get(skill.name);
    return skill.kind === 'handler' && folder !== undefined ? [[skill.tool.name, inChild(skill, folder, means(skill))]] : [];
  });
  return new Map(entries);
}

function inChild({ name, tool, handler }: HandlerSkill, folder: string, means: SkillMeans): ToolHandler {
  const wants = wantsOf(tool.permissions);
  return async (args, context) => {
    const session = wants.read || wants.write ? await means.workspaces?.open(context) : undefined;
    const workspace = session && permittedWorkspace(session, tool.permissions);
    const { callId, sessionId, previousResults, signal, timeoutMs } = context;
    const end = await runSkillChild({
      folder,
      run: { type: 'run', module: join(folder, handler), args, callId, sessionId, previousResults, files: workspace !== undefined },
      signal,
      timeoutMs,
      onMessage: serve(name, context, means, workspace),
    });
    return outputOf(end, name);
  };
}

type OnMessage = (message: FromChild, reply: (message: ToChild) => void) => void;

/** Does for the child what its permissions allow. */
function serve(name: string, context: ToolContext, means: SkillMeans, workspace: Workspace | undefined): OnMessage {
  const under = new Map<number, AbortController>();
  return (message, reply) => {
    if (message.type === 'log') log(message, name, context);
    if (message.type === 'cancel') under.get(message.id)?.abort();
    if (message.type !== 'ask') return;
    const { id } = message;
    const controller = new AbortController();
    under.set(id, controller);
    const signal = AbortSignal.any([context.signal, controller.signal]);
    carryOut(message.means, means, workspace, signal)
      .then((value) => reply({ type: 'answer', id, value }))
      .catch((error: unknown) => {
        const known = error instanceof HandrailError ? error : new HandrailError('UNHANDLED', 'it could not be done');
        reply({ type: 'refusal', id, code: known.code, message: known.message });
      })
      .finally(() => under.delete(id));
  };
}

async function carryOut(asked: Means, means: SkillMeans, workspace: Workspace | undefined, signal: AbortSignal): Promise<unknown> {
  if (asked.op === 'fetch') return means.fetch(asked.request, signal);
  if (!workspace) throw new HandrailError('PERMISSION_DENIED', 'the skill has no permission for files');
  switch (asked.op) {
    case 'read':
      return workspace.read(asked.path);
    case 'write':
      return workspace.write(asked.path, asked.data, asked.mode);
    case 'list':
      return workspace.list(asked.path, { depth: asked.depth, limit: asked.limit });
    case 'remove':
      return workspace.remove(asked.path);
  }
}

function log({ level, message, fields }: Extract<FromChild, { type: 'log' }>, skill: string, { logger, callId }: ToolContext): void {
  const facts = { ...fields, skill, callId };
  if (level === 'error') logger.error(message.slice(0, 1_000), undefined, facts);
  else logger[level](message.slice(0, 1_000), facts);
}

function outputOf(end: SkillChildEnd, name: string): ReturnType<typeof skillOutput> {
  switch (end.type) {
    case 'done':
      return skillOutput(end.value === undefined ? undefined : JSON.parse(end.value));
    case 'failed':
      throw skillError(Object.assign(new Error(end.message), end.code === undefined ? {} : { code: end.code }));
    case 'died':
      throw new HandrailError('SANDBOX_CRASHED', `the process of the skill ${name} gave no answer: ${end.why}`);
  }
}
