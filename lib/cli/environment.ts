import { join, resolve } from 'node:path';
import * as z from 'zod';
import type { CliContext } from './context.ts';
import { readDotEnv } from './dot-env.ts';
import { usageError } from './failure.ts';
import { LOG_LEVELS } from './log.ts';

const MAX_PORT = 65_535;
const port = z
  .string()
  .regex(/^\d{1,5}$/, 'a port is a number')
  .transform(Number)
  .refine((value) => value <= MAX_PORT, `a port is at most ${MAX_PORT}`);
const text = z.string().optional();
const webAddress = z.url({ protocol: /^https?$/, error: 'an address begins with http:// or https://' });

/** Every variable that the CLI and the server on a laptop know. An empty one counts as not set. */
const environmentSchema = z.object({
  HANDRAIL_PORT: port.default(8787),
  HANDRAIL_HOME: z.string().default('.handrail'),
  HANDRAIL_MODEL: text,
  HANDRAIL_URL: webAddress.optional(),
  HANDRAIL_SECRET: z.string().min(16, 'a secret has at least 16 characters').optional(),
  HANDRAIL_SIGN_REGION: z
    .string()
    .regex(/^[a-z]{2}(-[a-z]+)+-\d$/, 'a region is like eu-west-1')
    .optional(),
  HANDRAIL_LOG: z.enum(LOG_LEVELS).optional(),
  HANDRAIL_WEBHOOK_URL: webAddress.optional(),
  HANDRAIL_WEBHOOK_SECRET: z.string().min(16, 'a secret has at least 16 characters').optional(),
  ANTHROPIC_API_KEY: text,
  OPENAI_API_KEY: text,
  OPENAI_BASE_URL: webAddress.optional(),
  BRAVE_API_KEY: text,
  TAVILY_API_KEY: text,
  AWS_PROFILE: text,
  AWS_REGION: text,
  AWS_ACCESS_KEY_ID: text,
  AWS_SECRET_ACCESS_KEY: text,
  AWS_SESSION_TOKEN: text,
});
type Variables = z.infer<typeof environmentSchema>;

/** `directory` is HANDRAIL_HOME as an absolute path. */
export type Environment = Variables & { readonly directory: string };

const known: readonly string[] = Object.keys(environmentSchema.shape);

/**
 * The environment, checked, after the `.env` file of the current directory has added what is not set: known variables
 * only, so that a project's own file can change nothing else. Lines of it that are not understood are warned of. Throws a usage error that names the variable, never its value.
 */
export function loadEnvironment(context: CliContext, warn: (line: string) => void): Environment {
  const { values: file, problems: unread } = readDotEnv(join(context.cwd, '.env'));
  for (const problem of unread) warn(problem);
  for (const [name, value] of Object.entries(file)) {
    if (known.includes(name)) {
      if (!context.env[name]) context.env[name] = value;
    } else if (name.startsWith('HANDRAIL_')) warn(`.env: ${name} is not known; known are ${known.filter(isOurs).join(', ')}`);
  }
  const set = Object.fromEntries(known.map((name) => [name, context.env[name] || undefined]));
  const parsed = environmentSchema.safeParse(set);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(
      ({ path: [name = ''], message }) =>
        `${String(name)}${context.env[String(name)] === file[String(name)] ? ' (in .env)' : ''}: ${message}`,
    );
    throw usageError(problems.join('\n'));
  }
  return {
    ...parsed.data,
    directory: resolve(context.cwd, parsed.data.HANDRAIL_HOME),
  };
}

const isOurs = (name: string): boolean => name.startsWith('HANDRAIL_');
