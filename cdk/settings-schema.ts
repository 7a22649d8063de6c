import * as z from 'zod';

/** From the command line everything is text; cdk.json has real values. */
const flag = z.union([z.boolean(), z.enum(['true', 'false']).transform((text) => text === 'true')], { error: 'is true or false' });
const count = (most: number) => z.coerce.number({ error: 'is a number' }).int('is a whole number').min(1).max(most);
const mail = z.email('is not an address');

/** Days that CloudWatch Logs can keep logs. */
const LOG_DAYS = [1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653];

/** `tool-code=20,reason=50`, or the same as an object: executions set aside for a function, which are also its limit. */
const reservedConcurrency = z
  .unknown()
  .transform((value) => (typeof value === 'string' ? pairsIn(value) : value))
  .pipe(z.record(z.string(), count(10_000), { error: 'is written like tool-code=20,reason=50' }))
  .default({});

function pairsIn(text: string): unknown {
  const pairs = text.split(',').map((pair) => pair.split('=').map((part) => part.trim()));
  return pairs.every((pair) => pair.length === 2) ? Object.fromEntries(pairs) : text;
}

/** What a deployment is made from, besides `handrail.config.yaml`. Documented in docs/deploy.md, which a test compares with this. */
export const settingsSchema = z.strictObject({
  /** Configuration file, relative to the project. Default: `handrail.config.<stage>.yaml` if it is there, else `handrail.config.yaml`. */
  config: z.string().min(1).optional(),
  /** Prefix of every name, so that several deployments fit into one account. Functions have 64 characters for theirs. */
  name: z.string().regex(/^[a-z][a-z0-9-]{0,23}$/, 'begins with a letter, then up to 23 of a-z 0-9 -'),
  /** Instead of the configuration's `target`. */
  target: z.enum(['aws', 'emulator'], { error: 'is aws or emulator' }).optional(),
  /** Where this stage belongs: with both, a deployment with other credentials is refused. */
  account: z.coerce
    .string()
    .regex(/^\d{12}$/, 'is an account id, 12 digits')
    .optional(),
  region: z
    .string()
    .regex(/^[a-z]{2}(-[a-z]+)+-\d$/, 'is a region such as eu-west-1')
    .optional(),
  /** `isolated`: file and code tools in a VPC without a way out, on a mounted file system. `none`: no VPC and no files. */
  network: z.enum(['isolated', 'none'], { error: 'is isolated or none' }).default('isolated'),
  /** Days that logs are kept. Execution logs hold no data; function logs hold no arguments and no results. */
  logDays: z.coerce.number().refine((days) => LOG_DAYS.includes(days), `is one of ${LOG_DAYS.join(', ')}`),
  logLevel: z.enum(['debug', 'info', 'warn', 'error'], { error: 'is debug, info, warn or error' }),
  /** Puts previews of arguments, results and answers into the logs. For finding a fault, not for every day. */
  logText: flag.default(false),
  retain: flag,
  approvalAgeMinutes: count(7 * 24 * 60),
  failedRuns: count(1_000),
  reservedConcurrency,
  /** Who is mailed when an alarm goes off. */
  alarmsMail: mail.optional(),
  /** Who is mailed when a run asks for an approval. */
  approvalsMail: mail.optional(),
  /** Emulator only: directory of the workspaces, as the emulator's functions see it. */
  workspace: z.string().startsWith('/', 'is an absolute path').default('/tmp/handrail-workspace'),
});
export type GivenSettings = z.infer<typeof settingsSchema>;
/** Keys of the context that are ours, besides `stage` and `stages`. */
export const SETTING_KEYS = Object.keys(settingsSchema.shape) as (keyof GivenSettings)[];
