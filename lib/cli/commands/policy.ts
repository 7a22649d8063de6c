import * as z from 'zod';
import type { PolicyView } from '../../api/views/policy-view.ts';
import { HandrailError } from '../../core/errors.ts';
import { type GuardConstraints, type ToolPolicy, toolPolicies, toolPolicySchema } from '../../core/guard/constraints.ts';
import type { ApiClient, PolicyScope } from '../client.ts';
import type { Command, Handler } from '../command.ts';
import { withConnection } from '../connection.ts';
import { columns, oneLine } from '../display-text.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { parseOptions, usageError } from '../failure.ts';
import { printJson } from '../print-json.ts';
import { rulesOf } from '../rule-rows.ts';

const optionsSchema = z.object({
  url: z.url().optional(),
  json: z.boolean().default(false),
  deployment: z.boolean().default(false),
});
const showSchema = optionsSchema.extend({ history: z.boolean().default(false) });

/** Others may change it between our look and our write; then we look again. */
const ATTEMPTS = 5;

/** `handrail policy show`: what the live policy adds to the configuration. */
export const showPolicy: Handler = async (command, _args, raw) => {
  const { url, json, history, deployment } = parseOptions(showSchema, raw);
  const scope = scopeOf(deployment);
  return withConnection(command, url, 'look', async ({ client }) => {
    if (history) return printHistory(command, client, scope, json);
    return printPolicy(command, await client.getPolicy(scope), json);
  });
};

/** `handrail policy set <tool> <allow|confirm|deny>` */
export const setPolicy: Handler = async (command, [tool = '', word = ''], raw) => {
  const policy = toolPolicySchema.safeParse(word);
  if (!policy.success) throw usageError(`"${word}" is not one of ${toolPolicies.join(', ')}`);
  return change(command, raw, tool, policy.data);
};

/** `handrail policy unset <tool>`: the tool returns to what the configuration says. */
export const unsetPolicy: Handler = (command, [tool = ''], raw) => change(command, raw, tool, undefined);

async function change(command: Command, raw: unknown, tool: string, policy: ToolPolicy | undefined): Promise<ExitCode> {
  const { url, json, deployment } = parseOptions(optionsSchema, raw);
  const scope = scopeOf(deployment);
  const view = await withConnection(command, url, 'change', ({ client }) => write(client, scope, tool, policy));
  if (policy !== undefined) warnIfStricter(command, view, tool, policy);
  return printPolicy(command, view, json);
}

async function write(client: ApiClient, scope: PolicyScope, tool: string, policy: ToolPolicy | undefined): Promise<PolicyView> {
  for (let attempt = 1; ; attempt++) {
    const { version, guard } = await client.getPolicy(scope);
    try {
      return await client.putPolicy(scope, version, withRule(guard, tool, policy));
    } catch (error) {
      if (attempt >= ATTEMPTS || !(error instanceof HandrailError && error.code === 'CONFLICT')) throw error;
    }
  }
}

/** `guard` with the rule of this very key set, or taken out. */
function withRule(guard: GuardConstraints, tool: string, policy: ToolPolicy | undefined): GuardConstraints {
  const others = Object.entries(guard.tool_policy ?? {}).filter(([key]) => key !== tool);
  if (policy === undefined && Object.keys(guard.tool_policy ?? {}).length === others.length)
    throw new HandrailError('NOT_FOUND', `the live policy has no rule "${tool}"`, {
      suggestions: ['handrail policy show lists its rules'],
    });
  return { ...guard, tool_policy: Object.fromEntries([...others, ...(policy === undefined ? [] : [[tool, policy] as const])]) };
}

/** What people may expect of `allow`, and do not get. */
function warnIfStricter({ screen }: Command, { deployed }: PolicyView, tool: string, policy: ToolPolicy): void {
  const rule = deployed.tool_policy && Object.hasOwn(deployed.tool_policy, tool) ? deployed.tool_policy[tool] : undefined;
  const word = typeof rule === 'string' ? rule : undefined;
  if (word !== undefined && toolPolicies.indexOf(word) > toolPolicies.indexOf(policy))
    screen.line(screen.style.yellow(`the configuration says ${tool}: ${word}, and that stands: a live policy tightens and never loosens`));
}

function printPolicy({ context, screen }: Command, view: PolicyView, json: boolean): ExitCode {
  for (const warning of view.warnings) screen.line(screen.style.yellow(`warning: ${oneLine(warning, 300)}`));
  if (json) {
    printJson(context, view);
    return EXIT.ok;
  }
  const live = rulesOf(view.guard, 'live');
  const by = view.updatedBy === undefined ? '' : ` by ${oneLine(view.updatedBy, 100)}`;
  const when = view.updatedAt === undefined ? 'never set' : `set ${new Date(view.updatedAt).toISOString()}${by}`;
  screen.line(screen.style.dim(`live policy of the ${view.scope}, version ${view.version}, ${when}`));
  for (const line of columns([...live, ...rulesOf(view.deployed, 'configuration')])) context.stdout.write(`${line}\n`);
  return EXIT.ok;
}

async function printHistory({ context, screen }: Command, client: ApiClient, scope: PolicyScope, json: boolean): Promise<ExitCode> {
  const { versions, cursor } = await client.listPolicyHistory(scope);
  if (json) printJson(context, { versions, ...(cursor === undefined ? {} : { cursor }) });
  else {
    const rows = versions.map(({ version, updatedAt = 0, updatedBy = '-', guard }) => [
      String(version),
      new Date(updatedAt).toISOString(),
      oneLine(updatedBy, 60),
      oneLine(JSON.stringify(guard), 200),
    ]);
    if (rows.length === 0) screen.line('Nobody has ever set a live policy here.');
    for (const line of columns(rows)) context.stdout.write(`${line}\n`);
  }
  return EXIT.ok;
}

const scopeOf = (deployment: boolean): PolicyScope => (deployment ? 'deployment' : 'tenant');
