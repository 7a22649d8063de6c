import * as z from 'zod';

/** Tokens and money spent. `estimated` when a provider reported none and we counted ourselves. */
export const usageSchema = z.object({
  promptTokens: z.number(),
  completionTokens: z.number(),
  totalTokens: z.number(),
  costUsd: z.number(),
  estimated: z.boolean(),
});
export type Usage = z.infer<typeof usageSchema>;

export const noUsage: Usage = { promptTokens: 0, completionTokens: 0, totalTokens: 0, costUsd: 0, estimated: false };

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    promptTokens: a.promptTokens + b.promptTokens,
    completionTokens: a.completionTokens + b.completionTokens,
    totalTokens: a.totalTokens + b.totalTokens,
    costUsd: a.costUsd + b.costUsd,
    estimated: a.estimated || b.estimated,
  };
}
