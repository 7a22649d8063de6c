import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { type LoadedSkills, loadSkills } from '../../lib/adapters/skills/load.ts';
import { configSchema } from '../../lib/core/config.ts';
import type { SkillReport } from '../../lib/core/skills/skill.ts';
import { productTools } from '../../lib/tools/names.ts';

const FIXTURES = fileURLToPath(new URL('../fixtures/vectors/skills', import.meta.url));
const CANARY = 'CANARY-outside-of-every-skill';

const rowSchema = z.object({
  id: z.string(),
  class: z.string(),
  dir: z.string(),
  expected: z.enum(['load', 'load-with-warning', 'reject']),
  firm: z.boolean(),
  reason: z.string(),
  dir_name_is: z.string().optional(),
  setup: z.array(z.object({ op: z.enum(['symlink', 'fifo']), path: z.string(), target: z.string().optional() })).default([]),
});
export type SkillVector = z.infer<typeof rowSchema>;

export interface CheckedVector {
  readonly row: SkillVector;
  readonly outcome: SkillVector['expected'];
  readonly report: SkillReport | undefined;
  /** Invariants of every row that did not hold. */
  readonly broken: readonly string[];
  readonly ms: number;
}

/**
 * Loads every vector as the README of the set says. Its keys are translated first: `timeout` is in seconds there, and
 * `permissions` are flat; handlers are Python; `tree` is a list of files. What is left to judge is the same.
 */
export function checkSkillVectors(): CheckedVector[] {
  const rows = z.array(rowSchema).parse(JSON.parse(readFileSync(join(FIXTURES, 'index.json'), 'utf8')));
  const base = mkdtempSync(join(tmpdir(), 'handrail-skill-vectors-'));
  try {
    writeFileSync(join(base, 'outside.md'), `---\nname: link-root\ndescription: ${CANARY}\n---\n`);
    return rows.map((row) => check(row, base, rows));
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

/** Rows that are judged together: the members of a circle, and those that want the same name. */
function groupOf(row: SkillVector, rows: readonly SkillVector[]): SkillVector[] {
  return row.class === 'cycle' || row.class === 'collision' ? rows.filter((other) => other.class === row.class) : [row];
}

function check(row: SkillVector, base: string, rows: readonly SkillVector[]): CheckedVector {
  const variants = row.class === 'tree' ? treeEntries(row) : [undefined];
  const checked = variants.map((entry) => checkVariant(row, mkdtempSync(join(base, 'row-')), rows, entry));
  const rank = ['load', 'load-with-warning', 'reject'];
  return checked.reduce((worst, next) => (rank.indexOf(next.outcome) > rank.indexOf(worst.outcome) ? next : worst));
}

function checkVariant(row: SkillVector, root: string, rows: readonly SkillVector[], entry: string | undefined): CheckedVector {
  const group = groupOf(row, rows);
  for (const member of group) layOut(member, join(root, 'skills'), entry);
  const directories = [...new Set(group.map(({ dir }) => join('skills', dirname(dir))))];
  const began = performance.now();
  const loaded = loadSkills({ ...SETTINGS, directories, root });
  const ms = performance.now() - began;
  const folder = join('skills', dirname(row.dir), row.dir_name_is ?? row.dir.slice(row.dir.lastIndexOf('/') + 1));
  const report = loaded.catalogue.reports.find(({ file }) => dirname(file) === folder);
  return { row, outcome: outcomeOf(report), report, broken: brokenInvariants(report, loaded, ms), ms };
}

const { security } = configSchema.parse({});
const SETTINGS = {
  security,
  // Rules that the set does not know: network and files together take the operator's trust.
  trusted: new Set(['perm-narrow']),
  tools: [...productTools.tools, ...productTools.builtIns],
};

function outcomeOf(report: SkillReport | undefined): SkillVector['expected'] {
  if (report === undefined || report.status === 'rejected') return 'reject';
  return report.status === 'accepted' ? 'load' : 'load-with-warning';
}

function brokenInvariants(report: SkillReport | undefined, loaded: LoadedSkills, ms: number): string[] {
  const holds: [string, boolean][] = [
    ['front matter runs no code', !('PWNED' in globalThis)],
    ['objects stay clean', Object.keys(Object.prototype).length === 0 && !('isAdmin' in {}) && !('polluted' in {})],
    ['nothing outside is read', !JSON.stringify(loaded.catalogue).includes(CANARY)],
    ['done within a second', ms < 1_000],
    ['a reject says why', report?.status !== 'rejected' || report.problems.every(({ reason, line }) => reason !== '' && line > 0)],
  ];
  return holds.flatMap(([name, held]) => (held ? [] : [name]));
}

function layOut(row: SkillVector, skills: string, entry: string | undefined): void {
  const folder = join(skills, row.dir);
  const companions = join(skills, 'h-ok');
  mkdirSync(folder, { recursive: true });
  if (existsSync(join(FIXTURES, row.dir))) cpSync(join(FIXTURES, row.dir), folder, { recursive: true });
  if (row.class === 'handler' && row.dir !== 'h-ok') cpSync(join(FIXTURES, 'h-ok'), companions, { recursive: true });
  for (const place of new Set([folder, ...(existsSync(companions) ? [companions] : [])])) asJavaScript(place);
  for (const { op, path, target } of row.setup) {
    if (op === 'fifo') execFileSync('mkfifo', [join(folder, path)]);
    else symlinkSync(target ?? '', join(folder, path));
  }
  const file = join(folder, 'SKILL.md');
  if (row.setup.length === 0 || row.class === 'handler') {
    if (existsSync(file)) writeFileSync(file, translated(readFileSync(file, 'latin1'), entry), 'latin1');
    if (['permissions', 'timeout', 'parameters'].includes(row.class))
      writeFileSync(join(folder, 'handler.js'), 'export default () => 1;\n');
  }
  if (row.dir_name_is !== undefined) renameSync(folder, join(dirname(folder), row.dir_name_is));
}

function asJavaScript(folder: string): void {
  const scripts = join(folder, 'scripts');
  if (!existsSync(scripts)) return;
  for (const name of readdirSync(scripts).filter((one) => one.endsWith('.py')))
    renameSync(join(scripts, name), join(scripts, name.replace(/py$/, 'js')));
}

/** As latin1, so that bytes which are no UTF-8 stay what they are. */
function translated(text: string, entry: string | undefined): string {
  return text
    .replace(/^timeout: (-?\d+(?:\.\d+)?)$/m, (_whole, seconds: string) => `timeout: ${Number(seconds) * 1000}`)
    .replace(/^permissions:\n((?: {2}\w+: .*\n)+)/m, (_whole, lines: string) => `permissions:\n${permissionLines(lines)}`)
    .replace(/^(handler: .*)\.py/m, '$1.js')
    .replace(/^tree:\n(?: {2}- .*\n)+/m, `execution: bt\ntree: ${entry?.replace(/\.py$/, '.js')}\n`);
}

function permissionLines(lines: string): string {
  const right = (name: string): string | undefined => new RegExp(`^  ${name}: (.*)$`, 'm').exec(lines)?.[1];
  const files = (['read', 'write'] as const).flatMap((name) => (right(name) === undefined ? [] : [`    ${name}: ${right(name)}\n`]));
  const network = right('network');
  return (files.length > 0 ? `  filesystem:\n${files.join('')}` : '') + (network ? `  network:\n    allowed_domains: ${network}\n` : '');
}

function treeEntries(row: SkillVector): string[] {
  const text = readFileSync(join(FIXTURES, row.dir, 'SKILL.md'), 'utf8');
  return [...text.matchAll(/^ {2}- (.*)$/gm)].map(([, entry]) => entry ?? '');
}
