import * as z from 'zod';
import { HandrailError } from '../../errors.ts';
import { defineTool } from '../../hands/define-tool.ts';
import { processResult } from '../../hands/result.ts';
import { startOf } from '../../hands/text.ts';
import type { JsonObject } from '../../json.ts';
import { RESULT_BYTES } from '../../limits.ts';
import { isCode } from '../../skills/prompt.ts';
import { skillNamed, unknownSkill } from '../../skills/select.ts';
import type { Skill } from '../../skills/skill.ts';
import { tightened } from '../../skills/tighten.ts';
import { BUILT_IN, type BuiltIn } from '../built-in.ts';
import { refuse } from '../observe.ts';
import { constraintsOf, type Step, topFrame } from '../step.ts';

export const LOAD_SKILL = 'load_skill';
/** Room for the heading, the list of files and the notes beside a page of text. */
const PAGE_BYTES = RESULT_BYTES - 8 * 1024;

const argumentsSchema = z.object({ skill: z.string(), file: z.string().optional(), offset: z.int().min(0).default(0) });

/**
 * Brings a skill's instructions into the conversation, then its files (design section 7). Its constraints hold from then on, as
 * if it had been chosen. Files are those that were read when the skill was loaded; nothing else can be named.
 */
export const loadSkill: BuiltIn = {
  kind: 'answer',
  definition: defineTool({
    name: LOAD_SKILL,
    description:
      'Reads the instructions of a skill, or one of its files. Call it before you work on a task that a skill is for: first with ' +
      '`skill` alone, then with `file` for those that the instructions speak of. Long texts come in pages; the end of a page says with ' +
      'which `offset` to go on.',
    parameters: {
      type: 'object',
      properties: {
        skill: { type: 'string', minLength: 1, maxLength: 128, description: 'Name of the skill' },
        file: { type: 'string', minLength: 1, maxLength: 500, description: 'Path of a file in the skill, such as "references/style.md"' },
        offset: { type: 'integer', minimum: 0, description: 'Character to begin at, from the note at the end of the page before' },
      },
      required: ['skill'],
      additionalProperties: false,
    },
    category: BUILT_IN,
    parallelSafe: true,
    idempotent: true,
  }),
  async answer(step, call, args) {
    const facts = { toolName: call.tool, duration: 0, now: step.deps.clock.now() };
    try {
      return processResult({ text: read(step, args) }, facts, RESULT_BYTES);
    } catch (error) {
      if (!(error instanceof HandrailError)) throw error;
      return refuse(step, call, error);
    }
  },
};

function read(step: Step, args: JsonObject): string {
  const { skill: name, file, offset } = argumentsSchema.parse(args);
  const { skills } = step.deps;
  const skill = skillNamed(skills, name);
  if (!skill) throw new HandrailError('INVALID_ARGUMENTS', unknownSkill(skills, name).message);
  const frame = topFrame(step.run);
  if (Object.keys(skill.constraints).length > 0) frame.constraints = tightened(constraintsOf(step.run, frame), skill.constraints);
  if (file !== undefined) return page(fileText(skill, file), offset, `${skill.name}/${file}`);
  const text = page(skill.body, offset, `Skill ${skill.name}`);
  return offset > 0 ? text : `${text}\n\n${notesOn(skill)}`.trimEnd();
}

function fileText(skill: Skill, wanted: string): string {
  const path = wanted.replace(/^(?:\.\/)+/, '');
  const file = skill.files.find((one) => one.path === path && !isCode(skill, one.path));
  if (!file) {
    const names = readable(skill).map((one) => one.path);
    throw new HandrailError(
      'FILE_NOT_FOUND',
      `the skill ${skill.name} has no file ${JSON.stringify(wanted.slice(0, 100))}; it has: ${names.join(', ') || 'none'}`,
    );
  }
  if (file.text === undefined)
    throw new HandrailError('RESOURCE_EXHAUSTED', `${path} is no text, or too large to read (${file.bytes} bytes)`);
  return file.text;
}

function page(text: string, offset: number, title: string): string {
  if (offset > text.length)
    throw new HandrailError('INVALID_ARGUMENTS', `the text has ${text.length} characters; there is nothing at ${offset}`);
  const shown = startOf(text.slice(offset), PAGE_BYTES);
  const end = offset + shown.length;
  const head = offset === 0 ? `${title}\n\n` : '';
  return end < text.length ? `${head}${shown}\n\n(${end} of ${text.length} characters; go on with offset ${end})` : `${head}${shown}`;
}

const readable = (skill: Skill): Skill['files'] => skill.files.filter((file) => file.text !== undefined && !isCode(skill, file.path));

function notesOn(skill: Skill): string {
  const lines: string[] = [];
  const files = readable(skill);
  if (files.length > 0)
    lines.push(`Files, to be read with load_skill: ${files.map(({ path, bytes }) => `${path} (${bytes} bytes)`).join(', ')}`);
  if (skill.kind === 'handler') lines.push(`Its tool is ${skill.tool.name}.`);
  if (skill.kind === 'tree') lines.push('It runs as a whole: call run_bt_skill with its name and inputs.');
  if (skill.requires.length > 0) lines.push(`It builds on these skills: ${skill.requires.join(', ')}.`);
  if (Object.keys(skill.constraints).length > 0) lines.push(`From now on this holds too: ${JSON.stringify(skill.constraints)}`);
  return lines.join('\n');
}
