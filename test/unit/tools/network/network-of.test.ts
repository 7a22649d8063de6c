import { describe, expect, test } from 'vitest';
import { type ConfigInput, configSchema } from '../../../../lib/core/config.ts';
import { createRegistry } from '../../../../lib/core/hands/registry.ts';
import { configuredCategories } from '../../../../lib/tools/index.ts';
import { webSearch } from '../../../../lib/tools/network/web-search.ts';
import { toolContext } from '../../../support/tool-context.ts';

function registryOf(input: ConfigInput) {
  const config = configSchema.parse(input);
  return createRegistry(configuredCategories(config), { security: config.security });
}
const files = { filesystem: { read: ['**'], write: ['**'] }, execution: { allowedCommands: ['*'] } };

describe('the tools of the network', () => {
  test('have no web_search where no service is configured', () => {
    const registry = registryOf({});
    expect(registry.getByCategory('network').map(({ name }) => name)).toEqual(['web_fetch']);
    expect(registry.notFound('web_search').code).toBe('TOOL_NOT_FOUND');
  });

  test('have web_search where one is', () => {
    const registry = registryOf({ search: { provider: 'searxng', base_url: 'http://searx.internal:8080' } });
    expect(registry.getByCategory('network').map(({ name }) => name)).toEqual(['web_search', 'web_fetch']);
  });

  test('ask for what the deployment allows, and so stay when it allows little', () => {
    const registry = registryOf({ security: { ...files, network: { allowedDomains: ['docs.example.com'], allowedPorts: [443] } } });
    expect(registry.get('web_fetch')?.permissions).toEqual({ network: { allowedDomains: ['docs.example.com'], allowedPorts: [443] } });
  });

  test.each([
    ['no network', files],
    ['no domain', { ...files, network: { allowedDomains: [] } }],
  ])('are left out where the deployment allows %s', (_what, security) => {
    const registry = registryOf({ security });
    expect(registry.getByCategory('network')).toEqual([]);
    expect(registry.refused().map(({ name }) => name)).toEqual(['web_fetch']);
  });

  test('are stopped by a policy that became narrower since', () => {
    const registry = registryOf({});
    const fetch = registry.get('web_fetch');
    if (!fetch) throw new Error('no web_fetch');
    expect(registry.deniedPermissions(fetch, { network: { allowedDomains: ['a.example'] } })?.code).toBe('PERMISSION_DENIED');
  });
});

describe('web_search', () => {
  test('gives no more results than asked for', async () => {
    const found = Array.from({ length: 30 }, (_, index) => ({ title: `${index}`, url: 'https://a.example/', snippet: '' }));
    const output = await webSearch({ query: 'x', count: 2 }, toolContext(), { search: { search: async () => found } });
    expect(output).toEqual({ json: { results: found.slice(0, 2) } });
  });

  test('refuses an empty query', async () => {
    await expect(webSearch({ query: '  ' }, toolContext(), { search: { search: async () => [] } })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENTS',
    });
  });
});
