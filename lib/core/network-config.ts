import * as z from 'zod';
import { permissionsSchema } from './hands/define-tool.ts';

/** What tools may declare at most; same shape as a tool's permissions. */
export const securitySchema = permissionsSchema.default({
  filesystem: { read: ['**'], write: ['**'] },
  network: { allowedDomains: ['*'], allowedPorts: [80, 443] },
  execution: { allowedCommands: ['*'] },
});

/** Where web_search asks; without it there is no such tool. On a laptop the environment gives the key. */
export const searchConfigSchema = z.discriminatedUnion('provider', [
  z.strictObject({ provider: z.literal('searxng'), base_url: z.url() }),
  z.strictObject({
    provider: z.literal('brave'),
    base_url: z.url().default('https://api.search.brave.com'),
    api_key_secret: z.string().optional(),
  }),
  z.strictObject({
    provider: z.literal('tavily'),
    base_url: z.url().default('https://api.tavily.com'),
    api_key_secret: z.string().optional(),
  }),
]);
export type SearchConfig = z.infer<typeof searchConfigSchema>;

/** The part of the configuration that the network function reads: the whole would bring the guard's validators into its bundle. */
export const networkConfigSchema = z.object({ security: securitySchema, search: searchConfigSchema.optional() });
export type NetworkConfig = z.infer<typeof networkConfigSchema>;
