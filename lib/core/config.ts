import * as z from 'zod';
import { awsPricesSchema } from './cost/prices.ts';
import { constraintsSchema, guardConstraintsSchema } from './guard/constraints.ts';
import { tenantSchema } from './ids.ts';
import { APPROVAL_TTL_MS, CONCURRENCY, HISTORY_EVENTS } from './limits.ts';
import { searchConfigSchema, securitySchema } from './network-config.ts';
import { retentionSchema } from './retention.ts';

const modelBase = {
  model: z.string().min(1),
  max_output_tokens: z.int().positive().default(4096),
  temperature: z.number().min(0).max(2).optional(),
};

/** One LLM. `api_key_secret` is a Secrets Manager name or ARN; on a laptop the environment gives the key. */
export const modelConfigSchema = z.discriminatedUnion('provider', [
  z.strictObject({ ...modelBase, provider: z.literal('bedrock'), region: z.string().optional(), base_url: z.url().optional() }),
  z.strictObject({ ...modelBase, provider: z.literal('anthropic'), base_url: z.url().optional(), api_key_secret: z.string().optional() }),
  z.strictObject({ ...modelBase, provider: z.literal('openai-compatible'), base_url: z.url(), api_key_secret: z.string().optional() }),
  /** `script` is a YAML or JSON file of scenarios, relative to the configuration file. */
  z.strictObject({ provider: z.literal('scripted'), model: z.string().default('demo'), script: z.string() }),
]);
export type ModelConfig = z.infer<typeof modelConfigSchema>;

/** Name or ARN. */
const busSchema = z
  .string()
  .regex(/^(?:arn:[a-z-]+:events:[a-z0-9-]+:\d{12}:event-bus\/)?[A-Za-z0-9._/-]{1,256}$/, 'not the name or ARN of an event bus');

export const agentConfigSchema = z.strictObject({
  /** A key of `models`. */
  model: z.string().default('default'),
  system: z.string().default('You are a careful assistant. Use the tools you are given; say what you did and what you could not do.'),
  mode: z.enum(['auto', 'serial', 'parallel']).default('auto'),
  /** Tools it may use; absent = all. */
  tools: z.array(z.string()).optional(),
  skills: z.array(z.string()).default([]),
  on_limit: z.enum(['stop', 'summarize']).default('stop'),
  on_deny: z.enum(['batch', 'call']).default('batch'),
  constraints: constraintsSchema.default({}),
});
export type AgentConfig = z.infer<typeof agentConfigSchema>;

const level = z.int().positive();

/** An address that is told. Names are of secrets in Secrets Manager; on a laptop the environment gives their values. */
const webhookSchema = z
  .strictObject({
    url: z.url({ protocol: /^https?$/, error: 'an address begins with http:// or https://' }).optional(),
    /** Instead of `url`, where that is a secret itself, as with Slack. */
    url_secret: z.string().min(1).optional(),
    /** Key of the signature; absent = unsigned. */
    signing_secret: z.string().min(1).optional(),
    format: z.enum(['slack', 'json']).default('slack'),
  })
  .refine(({ url, url_secret }) => (url === undefined) !== (url_secret === undefined), 'give either url or url_secret');
/** The tenant that may change the live policy of the whole deployment; absent = none may. A laptop has one tenant, and that is it. */
const authBase = { operator_tenant: tenantSchema.optional() };

/** `handrail.config.yaml` (design section 11). Every key is optional; unknown keys are errors. */
export const configSchema = z.strictObject({
  target: z.enum(['aws', 'emulator']).default('aws'),
  constraints: constraintsSchema
    .extend({
      guard: guardConstraintsSchema
        .extend({
          confirm_default: z.enum(['allow', 'deny']).optional(),
          /** What a client without a terminal leaves to people, instead of rejecting it. Absent: all when deployed, nothing on a laptop. */
          non_tty_pending: z.boolean().optional(),
          /** Modules that export `createChecker`, relative to this file: they stand before confirm, in this order (design 5.1). */
          checkers: z
            .array(z.string().regex(/\.[cm]?[jt]s$/, 'not the path of a .ts or .js module'))
            .max(20)
            .default([]),
        })
        .optional(),
    })
    .default({}),
  security: securitySchema,
  hands: z
    .strictObject({
      concurrency: z
        .strictObject({
          global: level.default(CONCURRENCY.global),
          categories: z.record(z.string(), level).default({ ...CONCURRENCY.categories }),
          tools: z.record(z.string(), level).default({ ...CONCURRENCY.tools }),
        })
        .prefault({}),
    })
    .prefault({}),
  search: searchConfigSchema.optional(),
  agents: z
    .record(z.string().regex(/^[a-z][a-z0-9_-]{0,62}$/, 'an agent is named with a-z, then up to 62 of a-z 0-9 _ -'), agentConfigSchema)
    .default({ default: agentConfigSchema.parse({}) }),
  models: z.record(z.string(), modelConfigSchema).default({}),
  /** USD per million tokens, by `<provider>/<model>`. */
  prices: z.record(z.string(), z.strictObject({ input: z.number().nonnegative(), output: z.number().nonnegative() })).default({}),
  /** What AWS takes, for the cost of runs; by default list prices (docs/cost.md). */
  aws_prices: awsPricesSchema.prefault({}),
  limits: z
    .strictObject({
      /** An execution's history may grow to this before the run goes on in another; Step Functions ends it at 25,000. */
      history_events: z.int().min(600).max(HISTORY_EVENTS).default(HISTORY_EVENTS),
    })
    .prefault({}),
  approvals: z
    .strictObject({
      ttl_ms: z.int().positive().max(APPROVAL_TTL_MS.max).default(APPROVAL_TTL_MS.default),
      self_approve: z.boolean().default(true),
    })
    .prefault({}),
  /** How people are told that they are asked (design 5.3); none: they look for themselves. */
  notices: z
    .strictObject({
      /** Where people reach the API; absent = its own address. */
      base_url: z.url({ protocol: /^https?$/, error: 'an address begins with http:// or https://' }).optional(),
      webhook: webhookSchema.optional(),
      sns_topic_arn: z
        .string()
        .regex(/^arn:[a-z-]+:sns:[a-z0-9-]+:\d{12}:[A-Za-z0-9_-]{1,256}$/, 'not the ARN of a standard topic')
        .optional(),
      event_bus: busSchema.optional(),
    })
    .prefault({}),
  /** Where systems listen to what runs do (docs/operations.md); none: they ask the API. */
  events: z
    .strictObject({
      bus: busSchema.optional(),
      /** With previews of arguments, results and answers. */
      text: z.boolean().default(false),
    })
    .prefault({}),
  /** How long data is kept. */
  retention: retentionSchema,
  /** Skills (design section 7). */
  skills: z
    .strictObject({
      /** Their folders lie in these, relative to the configuration file; the first that has a name keeps it. */
      directories: z.array(z.string().min(1)).default(['skills']),
      /** Handler skills that may have network and files together, and every host. */
      trusted: z.array(z.string()).default([]),
      /** One that is rejected fails the deployment, or is left out. On a laptop it is left out with a line in the log. */
      on_reject: z.enum(['fail', 'skip']).default('fail'),
    })
    .prefault({}),
  auth: z
    .discriminatedUnion('mode', [
      z.strictObject({
        ...authBase,
        mode: z.literal('iam'),
        /** The tenant of every caller; absent = each role and user is one of its own. Roles that share runs need it. */
        tenant: tenantSchema.optional(),
      }),
      z.strictObject({
        ...authBase,
        mode: z.literal('jwt'),
        issuer: z.url(),
        audience: z.array(z.string()).min(1),
        tenant_claim: z.string().default('sub'),
      }),
    ])
    .default({ mode: 'iam' }),
});
export type Config = z.infer<typeof configSchema>;
export type ConfigInput = z.input<typeof configSchema>;
