import { readFile, writeFile } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import * as z from 'zod';
import { HandrailError } from '../../core/errors.ts';
import type { Command, Handler } from '../command.ts';
import { withConnection } from '../connection.ts';
import { columns, oneLine, visible } from '../display-text.ts';
import { EXIT } from '../exit-codes.ts';
import { parseOptions, usageError } from '../failure.ts';
import { printJson } from '../print-json.ts';
import { readStandardInput } from '../standard-input.ts';

const optionsSchema = z.object({ url: z.url().optional(), json: z.boolean().default(false) });
const getSchema = optionsSchema.extend({ output: z.string().min(1).optional() });
const LISTED = 2_000;

/** `handrail sessions files <sessionId> [directory]`: what agents and people have put there. */
export const listFiles: Handler = async (command, [sessionId = '', path = '.'], raw) => {
  const { url, json } = parseOptions(optionsSchema, raw);
  const { context, screen } = command;
  const list = await withConnection(command, url, 'look', ({ client }) => client.listFiles(sessionId, { path, limit: LISTED }));
  if (json) {
    printJson(context, list);
    return EXIT.ok;
  }
  const rows = list.entries.map(({ path: name, kind, bytes, modifiedAt }) => [
    kind === 'file' ? String(bytes) : '-',
    new Date(modifiedAt).toISOString(),
    `${visible(name)}${kind === 'directory' ? '/' : ''}`,
  ]);
  if (rows.length === 0) screen.line('There are no files here.');
  if (rows.length === LISTED) screen.line(screen.style.yellow(`only the first ${LISTED} are shown; name a directory`));
  const head = context.stdout.isTTY && rows.length > 0 ? [['BYTES', 'CHANGED', 'PATH']] : [];
  for (const line of columns([...head, ...rows])) context.stdout.write(`${line}\n`);
  return EXIT.ok;
};

/** `handrail sessions get <sessionId> <path>`: its bytes on stdout, or in the file of `--output`. */
export const getFile: Handler = async (command, [sessionId = '', path = ''], raw) => {
  const { url, json, output } = parseOptions(getSchema, raw);
  const { context } = command;
  const data = Buffer.from(await withConnection(command, url, 'look', ({ client }) => client.readFile(sessionId, path)));
  const facts = { sessionId, path, bytes: data.byteLength };
  if (output !== undefined) {
    await writeFile(resolve(context.cwd, output), data);
    if (json) printJson(context, { ...facts, output });
    else command.screen.line(`${data.byteLength} bytes in ${visible(output)}`);
  } else if (json) printJson(context, { ...facts, base64: data.toString('base64') });
  else if (context.stdout.isTTY) showOnTerminal(command, path, data);
  else context.stdout.write(data);
  return EXIT.ok;
};

/** `handrail sessions put <sessionId> <file> [path]`: creates or replaces a file of the session. `-` is standard input. */
export const putFile: Handler = async (command, [sessionId = '', file = '', to], raw) => {
  const { url, json } = parseOptions(optionsSchema, raw);
  const { context } = command;
  const path = to ?? (file === '-' ? undefined : basename(file));
  if (path === undefined) throw usageError('"-" has no name: say where the file goes, as in handrail sessions put s-1 - data/sales.csv');
  const data =
    file === '-' ? await readStandardInput(context, 'handrail sessions put s-1 - a.csv < a.csv') : await contentOf(command, file);
  const written = await withConnection(command, url, 'change', ({ client }) => client.writeFile(sessionId, path, data));
  if (json) printJson(context, { sessionId, ...written });
  else context.stdout.write(`${oneLine(written.path, 200)} ${written.created ? 'created' : 'replaced'}, ${written.bytes} bytes\n`);
  return EXIT.ok;
};

/** What an agent wrote could move the cursor, or be no text at all. */
function showOnTerminal({ context }: Command, path: string, data: Buffer): void {
  const text = data.toString('utf8');
  if (!Buffer.from(text).equals(data))
    throw new HandrailError('BAD_REQUEST', `${path} is not text`, { suggestions: ['--output <file> writes it, and so does a pipe'] });
  context.stdout.write(visible(text));
  if (text !== '' && !text.endsWith('\n')) context.stdout.write('\n');
}

async function contentOf({ context }: Command, file: string): Promise<Buffer> {
  try {
    return await readFile(resolve(context.cwd, file));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw usageError(`${file} cannot be read (${code})`);
  }
}
