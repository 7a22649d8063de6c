import { unreachable } from '../../core/errors.ts';
import type { SearchConfig } from '../../core/network-config.ts';
import type { SearchProvider } from '../../core/ports/search-provider.ts';
import { createBrave } from './brave.ts';
import type { SearchContext } from './provider.ts';
import { createSearxng } from './searxng.ts';
import { createTavily } from './tavily.ts';

/** The configured search service. */
export function createSearch(config: SearchConfig, context: SearchContext): SearchProvider {
  switch (config.provider) {
    case 'searxng':
      return createSearxng(config, context);
    case 'brave':
      return createBrave(config, context);
    case 'tavily':
      return createTavily(config, context);
    default:
      return unreachable(config);
  }
}
