import { HandrailError, isRetryable } from '../../core/errors.ts';
import type { PartOutcome, ToolHandler } from '../../core/hands/category.ts';
import { utf8Bytes } from '../../core/json.ts';
import { RESULT_BYTES } from '../../core/limits.ts';
import type { Workspace } from '../../core/ports/workspace.ts';
import { parseArguments } from '../arguments.ts';
import { serviceOf } from '../services.ts';
import { readFileArguments } from './read-file.definition.ts';

/** What the parts of one call may take together: the rest of a result is for titles, notes and what JSON escapes. */
const PARTS_BYTES = 0.8 * RESULT_BYTES;

/** Text of one file, or the parts of several. What is cut to the result's size happens later, in the life cycle. */
export const readFile: ToolHandler = async (args, context, services) => {
  const { path, paths, encoding, ...range } = parseArguments(readFileArguments, args);
  if ((path === undefined) === (paths === undefined)) throw new HandrailError('INVALID_ARGUMENTS', 'Give either `path` or `paths`.');
  const ranged = range.start_line !== undefined || range.end_line !== undefined;
  if (ranged && (path === undefined || encoding === 'base64')) {
    throw new HandrailError('INVALID_ARGUMENTS', '`start_line` and `end_line` go with `path` and text only.');
  }
  const workspace = await serviceOf(services, 'workspaces').open(context);
  if (path !== undefined) {
    const text = decode(await workspace.read(path), encoding, path);
    return { text: ranged ? linesOf(text, range.start_line ?? 1, range.end_line, path) : text, source: path };
  }
  const wanted = paths ?? [];
  const parts: PartOutcome[] = [];
  for (const name of wanted) {
    if (context.signal.aborted) throw new HandrailError('TIMEOUT', `Read ${parts.length} of ${wanted.length} files in time.`);
    parts.push(await readPart(workspace, name, encoding, Math.floor(PARTS_BYTES / wanted.length)));
  }
  return { parts };
};

/** One of several files, cut to its share of the result, so that a long one does not push the others out. */
async function readPart(workspace: Workspace, name: string, encoding: 'utf-8' | 'base64', share: number): Promise<PartOutcome> {
  try {
    const text = decode(await workspace.read(name), encoding, name);
    const title = `== ${name} ==\n`;
    if (utf8Bytes(text) <= share) return { name, data: `${title}${text}` };
    if (encoding === 'base64') throw new HandrailError('RESOURCE_EXHAUSTED', 'Too large to read together with others; read it alone.');
    return { name, data: `${title}${cut(text, share)}\n… (cut to ${share} bytes; read this file alone, by lines, for the rest)` };
  } catch (error) {
    if (!(error instanceof HandrailError) || isRetryable(error.code)) throw error;
    return { name, error: `${error.code}: ${error.message}` };
  }
}

function decode(data: Uint8Array, encoding: 'utf-8' | 'base64', path: string): string {
  if (encoding === 'base64') return Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(data);
  } catch (cause) {
    throw new HandrailError('INVALID_ARGUMENTS', `${JSON.stringify(path)} is not UTF-8 text (${data.byteLength} bytes).`, {
      cause,
      suggestions: ['Read it with encoding "base64".'],
    });
  }
}

function linesOf(text: string, first: number, last: number | undefined, path: string): string {
  const lines = text.split('\n');
  // A final newline ends the last line, it does not begin another.
  if (lines.at(-1) === '') lines.pop();
  if (last !== undefined && last < first) throw new HandrailError('INVALID_ARGUMENTS', '`end_line` is before `start_line`.');
  if (first > lines.length) {
    throw new HandrailError('INVALID_ARGUMENTS', `${JSON.stringify(path)} has ${lines.length} lines; line ${first} does not exist.`);
  }
  const end = Math.min(last ?? lines.length, lines.length);
  return `(lines ${first} to ${end} of ${lines.length})\n${lines.slice(first - 1, end).join('\n')}`;
}

/** The longest beginning of `text` that takes at most `bytes` as UTF-8. */
function cut(text: string, bytes: number): string {
  const whole = Buffer.from(text);
  let end = Math.min(bytes, whole.length);
  while (end > 0 && ((whole[end] ?? 0) & 0xc0) === 0x80) end--;
  return whole.toString('utf8', 0, end);
}
