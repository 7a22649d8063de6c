import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { configSchema } from '../../../lib/core/config.ts';
import { parseConfig } from '../../../lib/runtime/config.ts';

const page = readFileSync(new URL('../../../docs/configuration.md', import.meta.url), 'utf8');

/** As much of a JSON Schema as the keys need. */
const nodeSchema = z.looseObject({
  get properties() {
    return z.record(z.string(), nodeSchema).optional();
  },
  get additionalProperties() {
    return z.union([z.boolean(), nodeSchema]).optional();
  },
  get anyOf() {
    return z.array(nodeSchema).optional();
  },
  get oneOf() {
    return z.array(nodeSchema).optional();
  },
});
type Node = z.infer<typeof nodeSchema>;

/** Every key that a value can be given, dotted; `<name>` stands for a name of one's own. What the keys of a map are is one key. */
function keysOf(node: Node, path: string): string[] {
  const below = Object.entries(node.properties ?? {}).flatMap(([key, child]) => keysOf(child, path === '' ? key : `${path}.${key}`));
  const named = typeof node.additionalProperties === 'object' ? keysOf(node.additionalProperties, `${path}.<name>`) : [];
  const variants = [...(node.anyOf ?? []), ...(node.oneOf ?? [])].flatMap((child) => keysOf(child, path));
  const all = [...new Set([...below, ...named, ...variants])];
  const deeper = all.filter((key) => key !== path);
  return deeper.length > 0 ? deeper : [path];
}

/** A rule of a tool is a word or a condition; an agent's constraints are those of the app. */
const TOLD_ONCE = [/^(constraints\.guard\.tool_policy)\..*/, /^(agents\.<name>\.constraints)\..*/];

test('docs/configuration.md explains every key of the configuration, and none that there is not', () => {
  const schema = nodeSchema.parse(z.toJSONSchema(configSchema, { io: 'input', unrepresentable: 'any', reused: 'inline' }));
  const told = (key: string): string => TOLD_ONCE.map((rule) => rule.exec(key)?.[1]).find((once) => once !== undefined) ?? key;
  const keys = new Set(keysOf(schema, '').map(told));
  const cells = [...page.matchAll(/^\| (`[^|]*) \|/gm)].map(([, cell = '']) => cell);
  const explained = cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, key = '']) => key));
  expect(explained.toSorted()).toEqual([...keys].toSorted());
});

test('docs/configuration.md shows configurations that load', () => {
  const blocks = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text = '']) => text);
  expect(blocks.length).toBeGreaterThan(0);
  for (const text of blocks) expect(() => parseConfig(text, 'handrail.config.yaml')).not.toThrow();
});
