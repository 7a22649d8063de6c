import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { checkersInOrder } from '../../../lib/core/guard/checkers/index.ts';
import { parseConfig } from '../../../lib/runtime/config.ts';
import { createChecker } from '../../fixtures/checkers/no-private-keys.ts';
import { guardOfMyProgram } from '../../fixtures/library/guard-in-a-program.ts';
import { appConstraints, toolContext } from '../../support/guard.ts';

const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
const page = read('docs/guard.md');
const blocks = (language: string): string[] =>
  [...page.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, text = '']) => text);

describe('docs/guard.md', () => {
  it('shows configurations that load, and mean what it says', () => {
    const [whole = '', checkers = ''] = blocks('yaml');
    const config = parseConfig(whole, 'handrail.config.yaml');
    expect(config.constraints.guard).toMatchObject({ max_tool_calls: 50, flow: 'confirm', budget: { cost_usd: 2 } });
    expect(config.agents['reader']?.on_deny).toBe('call');
    expect(parseConfig(checkers, 'handrail.config.yaml').constraints.guard?.checkers).toEqual(['./checkers/no-private-keys.ts']);
    expect(blocks('yaml')).toHaveLength(2);
  });

  it('names the checkers in the order they have', () => {
    const names = checkersInOrder({ constraints: appConstraints({}), confirmDefault: undefined }).map(({ name }) => name);
    const shown = [...page.matchAll(/^\| `(\w+)` \|/gm)].map(([, name = '']) => name).filter((name) => names.includes(name));
    expect(shown).toEqual(names);
  });

  it('shows a checker that is the one tested', async () => {
    const [sample = ''] = blocks('ts');
    expect(sample.replace("'../lib/", "'../../../lib/")).toBe(read('test/fixtures/checkers/no-private-keys.ts'));
    const key = { text: '-----BEGIN PRIVATE KEY-----' };
    expect(await createChecker().check('tool_call', toolContext({ name: 'a', args: key }))).toEqual([
      'DENY',
      'the arguments of a hold a private key',
    ]);
  });

  it('shows a program with a guard of its own that runs', async () => {
    expect(blocks('ts')[1]).toBe(read('test/fixtures/library/guard-in-a-program.ts'));
    const { enforcer } = guardOfMyProgram(({ name }) => name === 'write_file');
    expect(await enforcer.check('tool_call', toolContext({ name: 'write_file' }))).toMatchObject({ decision: 'ALLOW' });
  });
});
