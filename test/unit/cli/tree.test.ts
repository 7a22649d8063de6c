import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { createCli } from '../../../lib/cli/cli.ts';
import { fakeContext } from './fake-context.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

async function handrail(args: readonly string[]) {
  const context = fakeContext({ cwd: ROOT });
  await createCli(context).parseAsync(['node', 'handrail', ...args]);
  return { code: context.code(), out: context.out(), err: context.err() };
}

test('tree show draws the tree of a skill as text and as Mermaid', async () => {
  const text = await handrail(['tree', 'show', 'release-check']);
  expect([text.code, text.err]).toEqual([0, '']);
  expect(text.out).toContain('approval go_ahead');
  expect((await handrail(['tree', 'show', 'release-check', '--mermaid'])).out).toMatch(/^flowchart TD\n/);
  expect(JSON.parse((await handrail(['tree', 'show', 'release-check', '--json'])).out)).toMatchObject({
    skill: 'release-check',
    tree: { type: 'sequence' },
  });
});

test('tree show names the tree skills there are when it is asked for another', async () => {
  const { code, err } = await handrail(['tree', 'show', 'nothing']);
  expect(code).toBe(2);
  expect(err).toContain('release-check');
});
