import * as z from 'zod';
import { callIdSchema, runIdSchema, sessionIdSchema, tenantSchema } from '../core/ids.ts';
import { traceHeader } from './aws-environment.ts';
import { readEnvironment } from './env.ts';
import { createObservation, type Observation } from './observation.ts';
import { systemClock } from './system.ts';

const levelSchema = z.enum(['debug', 'info', 'warn', 'error']);
let made: Observation | undefined;

/**
 * What this function tells, as its environment says. One per process, made at the first call: a Lambda environment runs
 * one function and one invocation at a time. Lines go to standard output as they are, since `console` would put text
 * before them and neither CloudWatch metrics nor queries read that.
 */
export function observation(): Observation {
  made ??= fromEnvironment();
  return made;
}

function fromEnvironment(): Observation {
  const { functionPrefix, logLevel, logText } = readEnvironment(['functionPrefix', 'logLevel', 'logText'], process.env);
  if (logText !== 'on') silence(console);
  return createObservation({
    deployment: functionPrefix,
    level: levelSchema.parse(logLevel),
    text: logText === 'on',
    write: (line) => void process.stdout.write(`${line}\n`),
    now: systemClock.now,
    trace: () => /Root=([^;]+)/.exec(traceHeader() ?? '')?.[1],
  });
}

/**
 * Lambda's runtime writes every error that leaves a handler to the console, its message too, and what is to be retried leaves it
 * so, with what a tool said. A handler skill may write there as well. Lines of ours do not go by it.
 */
export function silence(target: Pick<Console, (typeof METHODS)[number]>): void {
  for (const method of METHODS) target[method] = () => undefined;
}

const METHODS = ['trace', 'debug', 'info', 'log', 'warn', 'error'] as const;

const contextSchema = z.object({ tenant: tenantSchema, runId: runIdSchema, step: z.int().optional() });
const callSchema = contextSchema.extend({ sessionId: sessionIdSchema, callId: callIdSchema });
const eventSchema = z.union([
  callSchema.transform(({ tenant, runId, sessionId, callId }) => ({ run: runId, session: sessionId, tenant, call: callId })),
  z.object({ ctx: contextSchema }).transform(({ ctx }) => idsOf(ctx)),
  z.object({ data: z.object({ ctx: contextSchema }) }).transform(({ data }) => idsOf(data.ctx)),
  // The API says more of its requests when it knows it; this is what ties its lines to the access log's.
  z
    .object({ requestContext: z.object({ requestId: z.string() }) })
    .transform(({ requestContext }) => ({ request: requestContext.requestId })),
]);

function idsOf({ tenant, runId, step }: z.infer<typeof contextSchema>): Record<string, string | number> {
  return { run: runId, tenant, ...(step === undefined ? {} : { step: step + 1 }) };
}

/** Errors that the state machine expects: it retries them. */
const EXPECTED = /^RETRY_\d$/;

/** A handler whose lines say what run they are about, as far as its event tells. */
export function observed<Event>(handler: (event: Event) => Promise<unknown>): (event: Event) => Promise<unknown> {
  return async (event) => {
    const { begin, logger } = observation();
    const about = eventSchema.safeParse(event);
    begin(about.success ? about.data : {});
    try {
      return await handler(event);
    } catch (error) {
      if (!(error instanceof Error && EXPECTED.test(error.name))) logger.error('the function failed', error);
      throw error;
    }
  };
}
