import * as z from 'zod';
import { TOOL_TIMEOUT_MS } from '../limits.ts';

const NO_CONTAINERS =
  'there are no containers here: code runs in a sandbox of its own, WebAssembly in a fresh process, without native programs. ' +
  'Leave this out, or write `mode: local`, if that is enough; what needs a native program belongs in a handler skill';
const NETWORKS = 'is true, false or none: other networks are those of containers, and there are none here';

/**
 * Seed 000, ExecutionConstraints: how the tools of a run are carried out. `mode: local` is what holds anyway, the sandbox of
 * every machine; what asks for a container is refused, since a skill that needs an image could not do its work.
 */
export const executionConstraintsSchema = z.strictObject({
  mode: z.literal('local', { error: NO_CONTAINERS }).optional(),
  docker_image: z.never({ error: NO_CONTAINERS }).optional(),
  /** `none`, or false: no tool that can reach the network. True says nothing: code has no network in any case. */
  network: z.union([z.boolean(), z.literal('none')], { error: NETWORKS }).optional(),
  /** Seconds that one attempt at a call may take, where its tool would have more. */
  timeout_s: z
    .number()
    .min(TOOL_TIMEOUT_MS.min / 1000)
    .nullable()
    .optional(),
});
export type ExecutionConstraints = z.infer<typeof executionConstraintsSchema>;

/** What holds of them. */
export const mergedExecutionSchema = z.object({
  /** Tools that can reach the network may be used. */
  network: z.boolean(),
  /** Null: what the tools declare. */
  timeout_s: z.number().nullable(),
});
export type MergedExecution = z.infer<typeof mergedExecutionSchema>;

/** Nothing is tightened: also what runs were begun with before there was such a constraint. */
export const ANY_EXECUTION: MergedExecution = { network: true, timeout_s: null };

export const allowsNetwork = ({ network }: ExecutionConstraints): boolean | undefined =>
  network === undefined ? undefined : network === true;

/** ms one attempt at a call may take, of the `toolMs` that its tool may. */
export function narrowedMs({ timeout_s }: MergedExecution, toolMs: number): number {
  return timeout_s === null ? toolMs : Math.min(toolMs, Math.round(timeout_s * 1000));
}

/** What a skill's constraint does not do although it looks as if it did, by field. */
export function idleExecution({ network, timeout_s }: ExecutionConstraints): { readonly field: string; readonly why: string }[] {
  const idle: { field: string; why: string }[] = [];
  if (network === true)
    idle.push({ field: 'network', why: 'allows nothing: constraints only tighten, and code never reaches the network; web_fetch does' });
  if (typeof timeout_s === 'number' && timeout_s * 1000 >= TOOL_TIMEOUT_MS.max)
    idle.push({ field: 'timeout_s', why: `narrows nothing: no tool may take more than ${TOOL_TIMEOUT_MS.max / 1000} s` });
  return idle;
}
