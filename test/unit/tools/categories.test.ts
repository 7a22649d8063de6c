import { join } from 'node:path';
import { build } from 'esbuild';
import { describe, expect, test } from 'vitest';
import { defineTool } from '../../../lib/core/hands/define-tool.ts';
import { createRegistry } from '../../../lib/core/hands/registry.ts';
import { allHandlers, categories } from '../../../lib/tools/index.ts';

const tools = categories.flatMap((category) => category.tools);

describe.each(tools.map((tool) => [tool.name, tool] as const))('%s', (name, tool) => {
  test('has a sound definition, in a category of its name', () => {
    expect(defineTool(tool)).toEqual(tool);
    expect(categories.find((category) => category.tools.includes(tool))?.name).toBe(tool.category);
  });

  test('tells the model what each argument is', () => {
    expect(tool.parameters).toMatchObject({ type: 'object', additionalProperties: false });
    expect(tool.parameters, 'providers refuse these at the top').not.toHaveProperty(['anyOf']);
    const { properties } = tool.parameters;
    for (const [argument, schema] of Object.entries(properties ?? {})) expect(schema, argument).toHaveProperty('description');
  });

  test('is marked for the model where what it brings back may be what strangers wrote', () => {
    expect(tool.untrusted).toBe(!['write_file', 'memory_write'].includes(name));
  });

  test('has a handler', () => {
    expect(allHandlers.get(name)).toBeTypeOf('function');
  });
});

test('names and aliases are all different, and no handler is without a tool', () => {
  const names = tools.flatMap((tool) => [tool.name, ...tool.aliases]);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  expect([...allHandlers.keys()].sort()).toEqual(tools.map((tool) => tool.name).sort());
});

test('a registry takes all categories', () => {
  const registry = createRegistry(categories, {
    security: { filesystem: { read: ['**'], write: ['**'] }, network: { allowedDomains: ['*'] }, execution: { allowedCommands: ['*'] } },
  });
  expect(
    registry
      .toolsForModel()
      .map((tool) => tool.name)
      .sort(),
  ).toEqual(tools.map((tool) => tool.name).sort());
});

test('a bundle that only needs the definitions ships no handler', async () => {
  const index = join(import.meta.dirname, '../../../lib/tools/index.ts');
  const bundle = async (name: string) => {
    const { metafile } = await build({
      stdin: { contents: `import { ${name} } from ${JSON.stringify(index)}; console.log(${name});`, resolveDir: import.meta.dirname },
      bundle: true,
      platform: 'node',
      format: 'esm',
      write: false,
      metafile: true,
      outfile: 'out.mjs',
    });
    return Object.keys(metafile.outputs['out.mjs']?.inputs ?? {}).filter((path) => path.includes('lib/tools/'));
  };
  const shared = /\/lib\/tools\/(?:\w+\/)?(?:category|index|arguments|services|names|memory-key|[\w-]+\.definition)\.ts$/;
  const handlers = (paths: string[]) => paths.filter((path) => !shared.test(`/${path}`));
  expect(handlers(await bundle('categories'))).toEqual([]);
  expect(handlers(await bundle('configuredCategories'))).toEqual([]);
  const shipped = await bundle('allHandlers');
  expect(tools.filter(({ name }) => !shipped.some((path) => path.endsWith(`/${name.replaceAll('_', '-')}.ts`)))).toEqual([]);
});
