import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { createWorkspaces } from '../../lib/adapters/sandbox/workspace.ts';
import { HandrailError } from '../../lib/core/errors.ts';
import { jsonObjectSchema, jsonSchema } from '../../lib/core/json.ts';
import { fileHandlers } from '../../lib/tools/file/category.ts';
import { toolContext } from './tool-context.ts';
import { random } from './workspace.ts';

const opSchema = z.object({
  op: z.enum(['dir', 'file', 'file_hex', 'symlink', 'hardlink', 'fifo', 'socket', 'sparse', 'chmod']),
  path: z.string(),
  data: z.string().default(''),
  hex: z.string().default(''),
  target: z.string().default(''),
  size: z.number().default(0),
  mode: z.string().default('600'),
});
const rowSchema = z.object({
  id: z.string(),
  class: z.string(),
  path: jsonSchema,
  op: z.enum(['read', 'write', 'list']),
  expect: z.enum(['allow', 'deny']),
  outcome: z.string(),
  firm: z.boolean(),
  why: z.string(),
  setup: z.array(opSchema).default([]),
  args: z.object({ recursive: z.boolean() }).optional(),
  must_not_contain: z.array(z.string()).default([]),
  race: z.object({ ops: z.array(opSchema) }).optional(),
});
export type PathRow = z.infer<typeof rowSchema>;
type Op = z.infer<typeof opSchema>;
/** How a workspace reaches its files; `descriptor` only on Linux. */
export type PathAccess = 'descriptor' | 'verified';

const vectors = join(import.meta.dirname, '../fixtures/vectors');
export const pathRows: readonly PathRow[] = readFileSync(join(vectors, 'paths.jsonl'), 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => rowSchema.parse(JSON.parse(line)));
const common = z.object({ setup_common: z.array(opSchema) }).parse(JSON.parse(readFileSync(join(vectors, 'paths-common.json'), 'utf8')));

/** Codes that count as the outcome a vector names. A link that loops is refused like any link, so it is not `invalid` here. */
const CODES: Readonly<Record<string, readonly string[]>> = {
  ok: ['ok'],
  not_found: ['FILE_NOT_FOUND'],
  denied: ['PERMISSION_DENIED'],
  invalid: ['INVALID_ARGUMENTS', 'PERMISSION_DENIED'],
  is_directory: ['INVALID_ARGUMENTS'],
  not_directory: ['INVALID_ARGUMENTS'],
  not_regular: ['PERMISSION_DENIED'],
  too_large: ['RESOURCE_EXHAUSTED'],
};

/**
 * Lays out a workspace between things it must not reach, calls the tool, and says what was wrong: a firm row that did not end as
 * it should, and for every row something leaked or something outside changed. An empty list = nothing.
 */
export async function pathFaults(row: PathRow, access: PathAccess): Promise<string[]> {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'handrail-paths-')));
  const parent = join(top, 'acme');
  const sockets: Server[] = [];
  const fill = (text: string) =>
    text.replaceAll('{ROOT}', join(parent, 'base')).replaceAll('{OUT}', join(parent, 'out')).replaceAll('{PARENT}', parent);
  const layOut = (op: Op): void => apply(op, fill, sockets);
  try {
    for (const op of [...common.setup_common, ...row.setup]) layOut(op);
    const before = outside(parent);
    const { outcome, text } = await call(row, { root: top, access, fill, layOut });
    const holds: [string, boolean][] = [
      [`it ended as ${outcome}, not as ${row.outcome}: ${text.slice(0, 300)}`, !row.firm || CODES[row.outcome]?.includes(outcome) === true],
      ['the content of a file outside was shown', !text.includes('CANARY')],
      ['something outside was changed', JSON.stringify(outside(parent)) === JSON.stringify(before)],
      ['a path of the host was shown', outcome === 'ok' || !text.includes(top)],
      ['what must not be in the result was in it', row.must_not_contain.every((forbidden) => !text.includes(forbidden))],
    ];
    return holds.flatMap(([fault, held]) => (held ? [] : [fault]));
  } finally {
    for (const server of sockets) server.close();
    rmSync(top, { recursive: true, force: true });
  }
}

interface Where {
  readonly root: string;
  readonly access: PathAccess;
  readonly fill: (text: string) => string;
  readonly layOut: (op: Op) => void;
}

async function call(row: PathRow, { root, access, fill, layOut }: Where): Promise<{ outcome: string; text: string }> {
  // A write asks for random bytes after its check and before it creates anything: the moment of the race.
  const bytes = (count: number) => {
    for (const op of row.race?.ops ?? []) layOut(op);
    return random.bytes(count);
  };
  const workspaces = await createWorkspaces({ root, access, now: () => Date.now(), random: { ...random, bytes } });
  const path = typeof row.path === 'string' ? fill(row.path) : row.path;
  const [tool, args] = {
    read: ['read_file', { path }] as const,
    write: ['write_file', { path, content: 'written' }] as const,
    list: ['list_directory', { path, depth: row.args?.recursive ? 10 : 1 }] as const,
  }[row.op];
  try {
    const output = await fileHandlers[tool]?.(jsonObjectSchema.parse(args), toolContext({ sessionId: 'base' }), { workspaces });
    return { outcome: 'ok', text: JSON.stringify(output) };
  } catch (error) {
    if (!(error instanceof HandrailError)) throw error;
    return {
      outcome: error.code,
      text: JSON.stringify([error.message, error.suggestions, String(error.cause), error.stack?.split('\n')[0]]),
    };
  }
}

function apply(op: Op, fill: (text: string) => string, sockets: Server[]): void {
  const path = fill(op.path);
  if (op.op !== 'chmod') mkdirSync(dirname(path), { recursive: true });
  if (op.op === 'dir') mkdirSync(path, { recursive: true });
  else if (op.op === 'file') writeFileSync(path, op.data);
  else if (op.op === 'file_hex') writeFileSync(path, Buffer.from(op.hex, 'hex'));
  else if (op.op === 'symlink') symlinkSync(fill(op.target), path);
  else if (op.op === 'hardlink') linkSync(fill(op.target), path);
  else if (op.op === 'fifo') execFileSync('mkfifo', [path]);
  else if (op.op === 'chmod') chmodSync(path, Number.parseInt(op.mode, 8));
  else if (op.op === 'sparse') {
    writeFileSync(path, '');
    truncateSync(path, op.size);
  } else sockets.push(createServer().listen(path));
}

/** All that lies beside the workspace, as text; links are named, not followed. */
function outside(directory: string, inside = 'base'): string[] {
  return readdirSync(directory)
    .filter((name) => name !== inside)
    .flatMap((name) => {
      const path = join(directory, name);
      const found = lstatSync(path);
      if (found.isSymbolicLink()) return `${path} -> ${readlinkSync(path)}`;
      if (found.isDirectory()) return [path, ...outside(path, '')];
      return found.isFile() ? `${path}: ${readFileSync(path, 'utf8')}` : path;
    });
}
