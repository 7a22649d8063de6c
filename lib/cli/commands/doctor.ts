import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { awsAccount } from '../../adapters/aws-account/aws-account.ts';
import { loadConfig } from '../../runtime/config.ts';
import { loadConfiguredSkills } from '../../runtime/skills.ts';
import { noteLine, notesOf } from '../../runtime/start-notes.ts';
import type { Handler } from '../command.ts';
import { columns, visible } from '../display-text.ts';
import { type CheckStatus, diagnose } from '../doctor/checks.ts';
import { EXIT } from '../exit-codes.ts';
import { parseOptions } from '../failure.ts';
import { printJson } from '../print-json.ts';

const optionsSchema = z.object({
  json: z.boolean().default(false),
  region: z.string().min(1).optional(),
  qualifier: z
    .string()
    .regex(/^[a-z0-9]{1,10}$/, 'a qualifier is up to 10 of a-z 0-9')
    .optional(),
});

const CONFIG_FILE = 'handrail.config.yaml';
const SIGNS: Readonly<Record<CheckStatus, string>> = { ok: '✓', warn: '!', fail: '✗', skipped: '-' };

/** `handrail doctor`: what a deployment to AWS needs, and what to do where it is missing. Reads, changes nothing. */
export const doctor: Handler = async ({ context, screen }, _args, raw) => {
  const { json, region, qualifier } = parseOptions(optionsSchema, raw);
  screen.status(() => 'asking AWS');
  const checks = await diagnose({
    nodeVersion: process.versions.node,
    loadConfig: () => loadConfig(join(context.cwd, CONFIG_FILE), readIfThere),
    notes: (config) => notesOf(config, loadConfiguredSkills(config, context.cwd).catalogue).map(noteLine),
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

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
