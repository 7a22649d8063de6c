import { basename, dirname } from 'node:path';
import * as z from 'zod';
import { awsAccount } from '../../adapters/aws-account/aws-account.ts';
import { checkNames, loadConfiguredSkills } from '../../runtime/skills.ts';
import { readStageConfig } from '../../runtime/stage-config.ts';
import { noteLine, notesOf } from '../../runtime/start-notes.ts';
import type { Handler } from '../command.ts';
import { columns, visible } from '../display-text.ts';
import { type CheckStatus, type Configured, diagnose } from '../doctor/checks.ts';
import { EXIT } from '../exit-codes.ts';
import { parseOptions } from '../failure.ts';
import { printJson } from '../print-json.ts';

const optionsSchema = z.object({
  json: z.boolean().default(false),
  region: z.string().min(1).optional(),
  /** As for a deployment, which takes prod where nobody says. */
  stage: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,15}$/, 'a stage is a-z, 0-9 and -')
    .default('prod'),
  config: z.string().min(1).optional(),
  qualifier: z
    .string()
    .regex(/^[a-z0-9]{1,10}$/, 'a qualifier is up to 10 of a-z 0-9')
    .optional(),
});

const SIGNS: Readonly<Record<CheckStatus, string>> = { ok: '✓', warn: '!', fail: '✗', skipped: '-' };

/** `handrail doctor`: what a deployment to AWS needs, and what to do where it is missing. Reads, changes nothing. */
export const doctor: Handler = async ({ context, screen }, _args, raw) => {
  const { json, region, qualifier, stage, config: file } = parseOptions(optionsSchema, raw);
  screen.status(() => 'asking AWS');
  const checks = await diagnose({
    nodeVersion: process.versions.node,
    readConfig: () => configurationOf(context.cwd, stage, file),
    account: awsAccount({ region: region ?? (context.env['AWS_REGION'] || context.env['AWS_DEFAULT_REGION'] || undefined) }),
    qualifier,
  });
  screen.status(undefined);
  const ok = checks.every(({ status }) => status !== 'fail');
  if (json) printJson(context, { ok, checks });
  else {
    const rows = checks.map(({ name, status, detail }) => [SIGNS[status], name, visible(detail)]);
    for (const [index, line] of columns(rows).entries()) {
      context.stdout.write(`${line}\n`);
      const fix = checks[index]?.fix;
      if (fix !== undefined) context.stdout.write(`     → ${visible(fix)}\n`);
    }
    screen.line(ok ? 'Ready: npm run deploy (docs/deploy.md)' : 'Not ready yet. A laptop needs none of this: npm start');
  }
  return ok ? EXIT.ok : EXIT.failed;
};

/** The stage's configuration, held to all that its deployment holds it to, and what it leaves out. */
function configurationOf(root: string, stage: string, file: string | undefined): Configured {
  const { config, path, place } = readStageConfig(root, stage, file);
  const skills = loadConfiguredSkills(config, dirname(path));
  checkNames(config, skills, dirname(path), place);
  return { file: basename(path), config, notes: notesOf(config, skills.catalogue).map(noteLine) };
}
