import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Bundles, bundleFunctions } from '../../cdk/bundle.ts';
import { functionSpecs } from '../../cdk/deploy.ts';
import { configSchema } from '../../lib/core/config.ts';
import { CONFIG_FILE } from '../../lib/manifest.ts';
import { categories } from '../../lib/tools/index.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const SCRIPT = 'test/fixtures/script-for-bundling.yaml';
const MB = 1_000_000;
/** Cold starts and deployments are paid by the byte (part 1, speed and size). */
const LIMITS: Readonly<Record<string, number>> = {
  reason: 2.3 * MB,
  api: 1.5 * MB,
  'tool-code': 15 * MB,
};
const OTHER_LIMIT = 0.9 * MB;

let bundles: Bundles;
beforeAll(async () => {
  bundles = await bundleFunctions({
    root,
    outdir: mkdtempSync(join(tmpdir(), 'handrail-bundles-')),
    functions: functionSpecs(),
    config: configSchema.parse({ models: { default: { provider: 'scripted', script: SCRIPT } } }),
    configDirectory: root,
  });
});

const bundleOf = (name: string) => {
  const bundle = bundles.get(name);
  if (bundle === undefined) throw new Error(`no bundle of ${name}`);
  return bundle;
};

describe('bundles', () => {
  it.each(functionSpecs().map(({ name }) => [name]))('%s is small enough', (name) => {
    expect(bundleOf(name).bytes).toBeLessThan(LIMITS[name] ?? OTHER_LIMIT);
  });

  it.each(categories.map(({ name }) => [name]))('the %s function ships the handlers of its own tools and no others', (category) => {
    const handlers = handlerFiles(bundleOf(`tool-${category}`).inputs);
    expect(handlers).not.toEqual([]);
    expect(handlers.filter((path) => !path.startsWith(`lib/tools/${category}/`))).toEqual([]);
  });

  it.each(['reason', 'suspend', 'settle', 'sweep', 'api'])('%s ships no handler of a tool', (name) => {
    expect(handlerFiles(bundleOf(name).inputs)).toEqual([]);
  });

  it.each(
    functionSpecs()
      .filter(({ model }) => !model)
      .map(({ name }) => [name]),
  )('%s ships no model provider', (name) => {
    expect(bundleOf(name).inputs.filter((path) => path.includes('/@ai-sdk/'))).toEqual([]);
  });

  it.each(
    functionSpecs()
      .filter(({ sandbox }) => !sandbox)
      .map(({ name }) => [name]),
  )('%s ships nothing that runs code', (name) => {
    expect(bundleOf(name).inputs.filter((path) => /\/(?:just-bash|quickjs-emscripten)\//.test(path))).toEqual([]);
  });

  it('carry the configuration where it is read, and the script of a scripted model with reason', () => {
    for (const { name, config } of functionSpecs())
      expect([name, readdirSync(bundleOf(name).directory).includes(CONFIG_FILE)]).toEqual([name, config]);
    const { directory } = bundleOf('reason');
    const { models } = configSchema.parse(JSON.parse(readFileSync(join(directory, CONFIG_FILE), 'utf8')));
    const script = models['default']?.provider === 'scripted' ? models['default'].script : '';
    expect(JSON.parse(readFileSync(join(directory, script), 'utf8'))).toMatchObject({
      scenarios: [{ when: 'anything', turns: [{ text: 'Done.' }] }],
    });
  });
});

describe("the operator's checkers", () => {
  const bundleWith = (checkers: string[]) =>
    bundleFunctions({
      root,
      outdir: mkdtempSync(join(tmpdir(), 'handrail-bundles-')),
      functions: functionSpecs().filter(({ name }) => ['reason', 'settle'].includes(name)),
      config: configSchema.parse({ constraints: { guard: { checkers } } }),
      configDirectory: join(root, 'test/fixtures'),
    });

  it('travel with reason and with no other function', async () => {
    const withOne = await bundleWith(['./checkers/no-private-keys.ts']);
    const ships = (name: string) => withOne.get(name)?.inputs.includes('test/fixtures/checkers/no-private-keys.ts');
    expect([ships('reason'), ships('settle')]).toEqual([true, false]);
    const { directory = '' } = withOne.get('reason') ?? {};
    expect(readFileSync(join(directory, 'index.mjs'), 'utf8')).toContain('no_private_keys');
  });

  it('that cannot be loaded stop the deployment', async () => {
    await expect(bundleWith(['./checkers/nowhere.ts'])).rejects.toMatchObject({
      code: 'BAD_REQUEST',
      field: 'constraints.guard.checkers.0',
    });
  });
});

/** What implements a tool: the modules of a category, save its data, its definitions and what they share. */
function handlerFiles(inputs: readonly string[]): string[] {
  const tools = new Set(
    categories.flatMap((category) => category.tools.map((tool) => `lib/tools/${category.name}/${tool.name.replaceAll('_', '-')}.ts`)),
  );
  return inputs.filter((path) => tools.has(path));
}
