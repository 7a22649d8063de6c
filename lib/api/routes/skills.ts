import * as z from 'zod';
import { constraintsSchema, storedGuardSchema } from '../../core/guard/constraints.ts';
import { skillProblemSchema, skillReportSchema } from '../../core/skills/skill.ts';
import { defineRoute } from '../route.ts';
import { schemaNames } from '../schema-names.ts';

const problemSchema = z.object(skillProblemSchema.shape);

/** What may be known of a skill: not its body, which is read with load_skill. */
const skillViewSchema = z
  .object({
    name: z.string(),
    kind: z.enum(['prompt', 'handler', 'tree']),
    description: z.string(),
    file: z.string(),
    /** Of a handler skill: the tool that it is, as `GET /tools` shows it. */
    tool: z.string().optional(),
    /** Of a tree skill: its inputs as declared. */
    inputs: z.record(z.string(), z.json()).optional(),
    requires: z.array(z.string()),
    allowedTools: z.array(z.string()).optional(),
    constraints: z.object({ ...constraintsSchema.shape, guard: z.object(storedGuardSchema.shape).optional() }),
    files: z.array(z.string()),
  })
  .register(schemaNames, { id: 'Skill' });

const skillListSchema = z
  .object({
    skills: z.array(skillViewSchema),
    /** Every folder with a SKILL.md, the rejected ones too, with file, line and reason. */
    reports: z.array(z.object({ ...skillReportSchema.shape, problems: z.array(problemSchema), warnings: z.array(problemSchema) })),
  })
  .register(schemaNames, { id: 'SkillList' });

export const listSkills = defineRoute({
  method: 'get',
  path: '/skills',
  id: 'listSkills',
  summary: 'The skills of this deployment, and what became of each folder that holds one',
  access: 'read',
  answer: { status: 200, description: 'All skills', schema: skillListSchema },
  handle: async (_input, services) => {
    const { skills, reports } = services.skills();
    return {
      skills: skills.map((skill) => ({
        name: skill.name,
        kind: skill.kind,
        description: skill.description,
        file: skill.file,
        ...(skill.kind === 'handler' ? { tool: skill.tool.name } : {}),
        ...(skill.kind === 'tree' ? { inputs: skill.tree.inputs } : {}),
        requires: skill.requires,
        ...(skill.allowedTools ? { allowedTools: skill.allowedTools } : {}),
        constraints: skill.constraints,
        files: skill.files.map(({ path }) => path),
      })),
      reports,
    };
  },
});
