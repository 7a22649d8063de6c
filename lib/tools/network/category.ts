import type { Category, ToolHandler } from '../../core/hands/category.ts';
import type { ToolDefinition } from '../../core/hands/define-tool.ts';
import { CONCURRENCY } from '../../core/limits.ts';
import type { NetworkConfig } from '../../core/network-config.ts';
import { webFetchDefinition } from './web-fetch.definition.ts';
import { webFetch } from './web-fetch.ts';
import { webSearchDefinition } from './web-search.definition.ts';
import { webSearch } from './web-search.ts';

/** The public web. Timeouts and sizes: seed 004 sections 2.2 and 4.2. */
export const network: Category = {
  name: 'network',
  timeoutMs: 20_000,
  memoryMb: 256,
  maxConcurrency: CONCURRENCY.categories.network,
  needs: ['network'],
  tools: [webSearchDefinition, webFetchDefinition],
};

/** By tool name. Apart from `network`, so that a bundle that only needs the definitions ships no handler. */
export const networkHandlers: Readonly<Record<string, ToolHandler>> = {
  web_search: webSearch,
  web_fetch: webFetch,
};

/**
 * The category as a deployment has it: web_search only where a provider is configured, and every tool's permissions those of
 * `security.network`, since that is what its function lets through, however narrow.
 */
export function networkOf({ search, security }: NetworkConfig): Category {
  const narrowed = (tool: ToolDefinition): ToolDefinition =>
    security.network?.allowedDomains?.length ? { ...tool, permissions: { network: security.network } } : tool;
  const tools = search === undefined ? [webFetchDefinition] : network.tools;
  return { ...network, tools: tools.map(narrowed) };
}
