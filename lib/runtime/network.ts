import type { WebClientOptions } from '../adapters/network/web-client.ts';
import { createWebClient } from '../adapters/network/web-client.ts';
import { createSearch } from '../adapters/search/index.ts';
import type { ToolServices } from '../core/hands/category.ts';
import type { NetworkConfig } from '../core/network-config.ts';
import { VERSION } from './version.ts';

export interface NetworkContext {
  /** The key of the search service, by the name that the configuration gives it. */
  apiKey(secret: string | undefined): Promise<string | undefined>;
  /** Tests: the internet and its names. */
  readonly web?: Pick<WebClientOptions, 'resolve' | 'connectTo'> | undefined;
}

const USER_AGENT = `Handrail/${VERSION}`;

/** What the tools of the category network work with, held to `security.network` at every call; `search` if it is configured. */
export function networkServices(
  { search, security }: NetworkConfig,
  { apiKey, web }: NetworkContext,
): Pick<ToolServices, 'web'> & Partial<Pick<ToolServices, 'search'>> {
  const { allowedDomains = [], allowedPorts } = security.network ?? {};
  return {
    web: createWebClient({ policy: { allowedDomains, allowedPorts }, userAgent: USER_AGENT, ...web }),
    ...(search === undefined ? {} : { search: createSearch(search, { apiKey, userAgent: USER_AGENT }) }),
  };
}
