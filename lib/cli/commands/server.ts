import * as z from 'zod';
import { HandrailError } from '../../core/errors.ts';
import type { Command, Handler } from '../command.ts';
import { connectToRunning, withConnection } from '../connection.ts';
import { columns, oneLine } from '../display-text.ts';
import { EXIT } from '../exit-codes.ts';
import { parseOptions } from '../failure.ts';
import { printJson } from '../print-json.ts';

const optionsSchema = z.object({
  url: z.url().optional(),
  json: z.boolean().default(false),
});

/** `handrail tools`: what agents may use. */
export const listTools: Handler = async (command, _args, raw) => {
  const { url, json } = parseOptions(optionsSchema, raw);
  const { context, screen } = command;
  const list = await withConnection(command, url, 'look', ({ client }) => client.listTools());
  if (json) return print(command, list);
  const rows = list.tools.map((tool) => [tool.name, tool.category, tool.effectTags.join(' ') || '-', oneLine(tool.description, 100)]);
  const head = context.stdout.isTTY && rows.length > 0 ? [['TOOL', 'CATEGORY', 'EFFECTS', 'DESCRIPTION']] : [];
  for (const line of columns([...head, ...rows])) context.stdout.write(`${line}\n`);
  for (const { name, denied } of list.refused)
    screen.line(screen.style.yellow(oneLine(`left out: ${name} declares more than "security" allows: ${denied.join(', ')}`, 300)));
  return EXIT.ok;
};

/** `handrail health`: whether a server answers. Starts none: that would always be well. */
export const health: Handler = async (command, _args, raw) => {
  const { url, json } = parseOptions(optionsSchema, raw);
  const connection = await connectToRunning(command, url);
  if (!connection)
    throw new HandrailError(
      'SERVICE_UNAVAILABLE',
      `no server of ${command.environment.directory} answers; start one with "handrail serve" (npm start)`,
    );
  const { client } = connection;
  const state = { url: client.url, ...(await client.health()) };
  if (json) return print(command, state);
  command.context.stdout.write(`${state.status}  ${state.url}  version ${oneLine(state.version, 40)}\n`);
  return EXIT.ok;
};

function print({ context }: Command, value: unknown): typeof EXIT.ok {
  printJson(context, value);
  return EXIT.ok;
}
