import * as z from 'zod';
import { constraintsSchema, storedGuardSchema } from '../guard/constraints.ts';
import { toolDefinitionSchema } from '../hands/define-tool.ts';
import { jsonObjectSchema } from '../json.ts';

/** A file of a skill's folder besides SKILL.md. */
const skillFileSchema = z.strictObject({
  /** Relative to the folder, `/`-separated. */
  path: z.string(),
  bytes: z.int(),
  /** Absent: too large, or not UTF-8. */
  text: z.string().optional(),
});
export type SkillFile = z.infer<typeof skillFileSchema>;

const base = {
  name: z.string(),
  /** What it is for: all that the LLM sees of a skill that nobody chose. */
  description: z.string(),
  /** Its SKILL.md, as people are told of it. */
  file: z.string(),
  /** The Markdown behind the front matter. */
  body: z.string(),
  license: z.string().optional(),
  compatibility: z.string().optional(),
  /** Tools that an agent is left with when this is chosen; absent = all of its own. */
  allowedTools: z.array(z.string()).optional(),
  /** Skills that are chosen with it. */
  requires: z.array(z.string()),
  constraints: constraintsSchema.extend({ guard: storedGuardSchema.optional() }),
  files: z.array(skillFileSchema),
};

/**
 * A skill that was accepted (design section 7, seed 000 "Prompt and BT skills", seed 004 section 1.3). JSON, so that it
 * travels beside a function's code: nothing of it is read from disk at run time.
 */
export const skillSchema = z.discriminatedUnion('kind', [
  z.strictObject({ ...base, kind: z.literal('prompt') }),
  z.strictObject({
    ...base,
    kind: z.literal('handler'),
    /** The tool it is: category `skill`, named like the skill with `_` for `-`. */
    tool: toolDefinitionSchema,
    /** The module with its code, relative to the folder. */
    handler: z.string(),
  }),
  z.strictObject({
    ...base,
    kind: z.literal('tree'),
    tree: z.strictObject({
      /** Relative to the folder. */
      file: z.string(),
      text: z.string(),
      /** As declared, unchecked here: `inputs` and `outputs` of the front matter. */
      inputs: jsonObjectSchema,
      outputs: jsonObjectSchema.optional(),
      /** The state key that holds the result (seed 000, `skill_result_key`). */
      resultKey: z.string(),
    }),
  }),
]);
export type Skill = z.infer<typeof skillSchema>;
export type SkillKind = Skill['kind'];
export type HandlerSkill = Extract<Skill, { kind: 'handler' }>;
export type TreeSkill = Extract<Skill, { kind: 'tree' }>;

/** Something that is wrong with a skill, where. */
export const skillProblemSchema = z.strictObject({
  file: z.string(),
  /** From 1. */
  line: z.int(),
  reason: z.string(),
});
export type SkillProblem = z.infer<typeof skillProblemSchema>;

/** What became of a folder with a SKILL.md: none is ever lost silently. */
export const skillReportSchema = z.strictObject({
  file: z.string(),
  /** Absent: it could not be read. */
  name: z.string().optional(),
  status: z.enum(['accepted', 'accepted_with_warnings', 'rejected']),
  /** Why it was rejected; empty otherwise. */
  problems: z.array(skillProblemSchema),
  warnings: z.array(skillProblemSchema),
});
export type SkillReport = z.infer<typeof skillReportSchema>;

/** All skills of a deployment: what can be used, and what became of each. */
export const skillCatalogueSchema = z.strictObject({
  v: z.literal(1),
  skills: z.array(skillSchema),
  reports: z.array(skillReportSchema),
});
export type SkillCatalogue = z.infer<typeof skillCatalogueSchema>;

export const noSkills: SkillCatalogue = { v: 1, skills: [], reports: [] };

/** Name of the tool that a handler skill is (design 6.1). */
export const toolNameOfSkill = (name: string): string => name.replaceAll('-', '_');

/** A report as lines for people: `<file>:<line>: <reason>`. */
export function reportLines({ problems, warnings }: SkillReport): string[] {
  return [
    ...problems.map(({ file, line, reason }) => `${file}:${line}: ${reason}`),
    ...warnings.map(({ file, line, reason }) => `${file}:${line}: warning: ${reason}`),
  ];
}
