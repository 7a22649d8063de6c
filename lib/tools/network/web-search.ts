import type { ToolHandler } from '../../core/hands/category.ts';
import { parseArguments } from '../arguments.ts';
import { serviceOf } from '../services.ts';
import { webSearchArguments } from './web-search.definition.ts';

/** `{ results }` of the configured provider. */
export const webSearch: ToolHandler = async (args, context, services) => {
  const { query, count, recency } = parseArguments(webSearchArguments, args);
  const results = await serviceOf(services, 'search').search({
    query,
    count,
    ...(recency === undefined ? {} : { recency }),
    signal: context.signal,
  });
  return { json: { results: results.slice(0, count) } };
};
