import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { readTree } from '../../../lib/adapters/skills/tree-file.ts';
import { readArguments } from '../../../lib/core/hands/arguments.ts';
import type { Json, JsonObject } from '../../../lib/core/json.ts';
import { jsonObjectSchema } from '../../../lib/core/json.ts';
import { drawText } from '../../../lib/core/trees/draw.ts';
import { checkOutputs, declarationProblem, resolveInputs } from '../../../lib/core/trees/inputs.ts';
import { definitionOf, nodeTypes } from '../../../lib/core/trees/nodes/index.ts';
import { categories } from '../../../lib/tools/index.ts';
import { givenSandbox, PATIENCE_MS } from '../../support/sandbox.ts';
import { TreeSteps } from '../../support/tree-steps.ts';

const folder = join(import.meta.dirname, '../../../skills/release-check');
const text = readFileSync(join(folder, 'tree.yaml'), 'utf8');
const tools = categories.flatMap((category) => category.tools);
const tree = readTree(text, 'tree.yaml', { tools });
const matter = jsonObjectSchema.parse(parse(readFileSync(join(folder, 'SKILL.md'), 'utf8').split('---\n')[1] ?? ''));
const inputs = jsonObjectSchema.parse(matter['inputs']);
const outputs = jsonObjectSchema.parse(matter['outputs']);

const scriptSchema = z.object({ code: z.string(), stdin: z.string().optional() });
const GOOD = { exitCode: 0, stdout: 'fine', stderr: '', files: [] };
const REVIEW = { ready: true, concerns: [], notes: '# 1.4.0\n' };

/** The tree after its checks, and the calls they were. */
function checked(results: { readonly changelog?: Json; readonly review?: Json } = {}): {
  steps: TreeSteps;
  calls: readonly { tool: string; input: JsonObject }[];
} {
  const steps = new TreeSteps(tree.root, { version: '1.4.0' });
  const next = steps.next();
  const calls = next.kind === 'tools' ? next.calls : [];
  steps
    .succeed('release/checks/changelog', results.changelog ?? GOOD)
    .succeed('release/checks/leftovers', GOOD)
    .succeed('release/checks/data', GOOD);
  expect(steps.next()).toMatchObject({ kind: 'llm', path: 'release/ask_again/review', prompt: expect.stringContaining('Release 1.4.0.') });
  steps.succeed('release/ask_again/review', results.review ?? REVIEW);
  return { steps, calls };
}

describe('the release-check skill', () => {
  it('declares inputs and outputs that can be used', () => {
    expect(declarationProblem('inputs', inputs)).toBeUndefined();
    expect(declarationProblem('outputs', outputs)).toBeUndefined();
    expect(resolveInputs(inputs, { version: '1.4.0' }, {})).toMatchObject({ ok: true });
    expect(resolveInputs(inputs, { version: '../1.4.0' }, {})).toMatchObject({ ok: false });
  });

  it('publishes what is good once a person agrees', () => {
    const { steps } = checked();
    expect(steps.next()).toMatchObject({ kind: 'approvals', items: [{ phase: 'before', title: 'Publish release 1.4.0?' }] });
    const next = steps.decide('release/outcome/published/go_ahead', 'before', 'approved').next();
    expect(next).toMatchObject({
      kind: 'tools',
      calls: [{ tool: 'write_file', covered: true, input: { path: 'releases/1.4.0.md', content: '# 1.4.0\n' } }],
    });
    expect(steps.succeed('release/outcome/published/go_ahead/write_notes').next()).toEqual({ kind: 'done', status: 'success' });
    expect(steps.blackboard['release']).toEqual({ version: '1.4.0', published: true, file: 'releases/1.4.0.md', concerns: [] });
    expect(checkOutputs(outputs, steps.blackboard['release'] ?? null)).toEqual({ ok: true });
  });

  it.each([
    ['a check found something', { changelog: { ...GOOD, exitCode: 1 } }],
    ['the model sees it as not ready', { review: { ...REVIEW, ready: false } }],
  ])('holds it, and asks nobody, when %s', (_what, results) => {
    const { steps } = checked(results);
    expect(steps.next()).toEqual({ kind: 'done', status: 'success' });
    expect(steps.blackboard['release']).toMatchObject({ published: false });
    expect(checkOutputs(outputs, steps.blackboard['release'] ?? null)).toEqual({ ok: true });
  });

  it('holds it when the person says no', () => {
    const { steps } = checked();
    steps.next();
    steps.decide('release/outcome/published/go_ahead', 'before', 'rejected');
    expect(steps.next()).toEqual({ kind: 'done', status: 'success' });
    expect(steps.blackboard['release']).toMatchObject({ published: false });
  });

  it('calls its tools with arguments they take', () => {
    const { calls } = checked();
    expect(calls).toHaveLength(3);
    for (const { tool, input } of calls) {
      const definition = tools.find(({ name }) => name === tool);
      expect(definition && readArguments(input, definition)).toMatchObject({ ok: true, repaired: false });
    }
  });

  it('finds in the sandbox what its checks are for', { timeout: 3 * PATIENCE_MS }, async () => {
    const sandbox = await givenSandbox();
    const run = async (index: number) => {
      const { calls } = checked();
      const { code, stdin } = scriptSchema.parse(calls[index]?.input);
      return sandbox.run(index === 2 ? 'python' : 'shell', code, stdin === undefined ? {} : { stdin });
    };
    await mkdir(join(sandbox.host, 'data'));
    await writeFile(join(sandbox.host, 'CHANGELOG.md'), '# Changes\n\n## [1.4.0] - today\n\n- faster\n\n## 1.3.0\n\n- slower\n');
    await writeFile(join(sandbox.host, 'data', 'ok.json'), '{"a": 1}');
    expect(await run(0)).toMatchObject({ exitCode: 0, stdout: '## [1.4.0] - today\n\n- faster\n\n' });
    expect(await run(1)).toMatchObject({ exitCode: 0, stdout: 'nothing left over\n' });
    expect(await run(2)).toMatchObject({ exitCode: 0, stdout: 'no file broken\n' });
    await writeFile(join(sandbox.host, 'CHANGELOG.md'), '# Changes\n\n## 11.4.0\n\n- not this one\n');
    await writeFile(join(sandbox.host, 'data', 'broken.json'), '{"a": ');
    await writeFile(join(sandbox.host, 'data', 'main.py'), '# FIXME later\n');
    expect(await run(0)).toMatchObject({ exitCode: 1, stdout: '' });
    expect(await run(1)).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('data/main.py:1:# FIXME later') });
    expect(await run(2)).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('1 broken') });
  });
});

describe('docs/trees.md', () => {
  const docs = readFileSync(join(import.meta.dirname, '../../../docs/trees.md'), 'utf8');

  it('shows the skill as it is', () => {
    expect(docs).toContain(drawText(tree));
  });

  it('has trees that can be read', () => {
    const blocks = [...docs.matchAll(/```yaml\n([\s\S]*?)```/g)].map((match) => match[1] ?? '');
    expect(blocks.length).toBeGreaterThan(0);
    for (const block of blocks) expect(readTree(block, 'docs/trees.md').root.type).toBe('sequence');
  });

  it('names every type of node and its fields', () => {
    for (const type of nodeTypes)
      for (const field of ['type', ...Object.keys(definitionOf(type)?.fields.shape ?? {})].filter((name) => name !== 'type'))
        expect(docs, `${type}.${field}`).toContain(`\`${field}`);
    for (const type of nodeTypes) expect(docs).toContain(`| \`${type}\` |`);
  });
});
