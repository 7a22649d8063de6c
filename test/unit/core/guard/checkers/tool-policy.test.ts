import { describe, expect, it } from 'vitest';
import { globMatches, toolPolicyChecker, toolPolicyOf } from '../../../../../lib/core/guard/checkers/tool-policy.ts';
import type { Constraints } from '../../../../../lib/core/guard/constraints.ts';
import { mergeConstraints } from '../../../../../lib/core/guard/constraints.ts';
import type { JsonObject } from '../../../../../lib/core/json.ts';
import { noUsage } from '../../../../../lib/core/loop/usage.ts';
import { appConstraints, toolContext } from '../../../../support/guard.ts';

async function decide(guard: Constraints['guard'], name: string, args: JsonObject = {}, aliases: string[] = []): Promise<string> {
  const checker = toolPolicyChecker({ constraints: appConstraints(guard), confirmDefault: undefined });
  return (await checker.check('tool_call', toolContext({ name, args, aliases })))[0];
}

describe('tool policy', () => {
  it('allows what no rule names, and follows default_policy where there is one', async () => {
    expect(await decide({}, 'read_file')).toBe('ALLOW');
    expect(await decide({ default_policy: 'confirm' }, 'read_file')).toBe('CONFIRM');
    expect(await decide({ default_policy: 'deny', tool_policy: { read_file: 'allow' } }, 'read_file')).toBe('ALLOW');
  });

  it('prefers exact name to alias, alias to glob, the longest glob to others, and any of them to the default', async () => {
    const all = { read_file: 'allow', cat: 'confirm', 'read_*': 'deny', '*': 'deny' } as const;
    expect(await decide({ tool_policy: all, default_policy: 'deny' }, 'read_file', {}, ['cat'])).toBe('ALLOW');
    const { read_file: _exact, ...withoutExact } = all;
    expect(await decide({ tool_policy: withoutExact }, 'read_file', {}, ['cat'])).toBe('CONFIRM');
    expect(await decide({ tool_policy: { 'read_*': 'allow', '*': 'deny' }, default_policy: 'deny' }, 'read_file')).toBe('ALLOW');
    expect(await decide({ tool_policy: { '*': 'allow' }, default_policy: 'deny' }, 'read_file')).toBe('ALLOW');
  });

  it('denies what reaches the network where a layer says none, whatever the rules allow, and names the layer', async () => {
    const constraints = mergeConstraints([
      { layer: 'app', constraints: { guard: { tool_policy: { fetch: 'allow' } } } },
      { layer: 'skill', constraints: { execution: { network: 'none' } } },
    ]);
    const checker = toolPolicyChecker({ constraints, confirmDefault: undefined });
    const answer = (effectTags: string[]) => checker.check('tool_call', toolContext({ name: 'fetch', effectTags }));
    expect(await answer(['fs.read', 'net.read'])).toEqual(['DENY', 'execution.network is none (skill): fetch reaches the network']);
    expect((await answer(['fs.read', 'code.exec']))[0]).toBe('ALLOW');
  });

  it('takes the strictest where two aliases or two globs of one length tie', async () => {
    expect(await decide({ tool_policy: { cat: 'allow', less: 'deny' } }, 'read_file', {}, ['cat', 'less'])).toBe('DENY');
    expect(await decide({ tool_policy: { 'read_*': 'allow', '*_file': 'allow', 're?d_*': 'allow' } }, 'read_file')).toBe('ALLOW');
    expect(await decide({ tool_policy: { 'read*': 'allow', '*file': 'confirm' } }, 'read_file')).toBe('CONFIRM');
  });

  it('counts a conditional rule only if the arguments match and only if it is stricter', async () => {
    const when = { properties: { path: { pattern: '^secret/' } }, required: ['path'] };
    const rules = { write_file: ['confirm' as const, { policy: 'deny' as const, when }] };
    expect(await decide({ tool_policy: rules }, 'write_file', { path: 'secret/a' })).toBe('DENY');
    expect(await decide({ tool_policy: rules }, 'write_file', { path: 'public/a' })).toBe('CONFIRM');
    expect(await decide({ tool_policy: { write_file: ['deny', { policy: 'allow', when }] } }, 'write_file', { path: 'secret/a' })).toBe(
      'DENY',
    );
    expect(
      await decide({ tool_policy: { write_file: { policy: 'allow', when } }, default_policy: 'confirm' }, 'write_file', {
        path: 'secret/a',
      }),
    ).toBe('CONFIRM');
    expect(await decide({ tool_policy: { write_file: { policy: 'deny', when }, 'write_*': 'confirm' } }, 'write_file', { path: 'x' })).toBe(
      'CONFIRM',
    );
  });

  it('gives the strictest of all layers, and names rule and layer', () => {
    const merged = mergeConstraints([
      { layer: 'app', constraints: { guard: { tool_policy: { execute_shell: 'allow' } } } },
      { layer: 'run', constraints: { guard: { tool_policy: { 'execute_*': 'confirm' } } } },
      { layer: 'skill', constraints: { guard: { tool_policy: { execute_shell: 'allow' } } } },
    ]);
    const answer = toolPolicyOf(merged.guard.tool_policy, { name: 'execute_shell', aliases: [] });
    expect(answer).toEqual({ policy: 'confirm', reason: 'tool policy: "execute_*" is confirm (run)' });
  });

  it('refuses a condition it cannot read instead of passing over it', async () => {
    await expect(decide({ tool_policy: { a: { policy: 'deny', when: { patern: 'x' } } } }, 'a')).rejects.toThrow(/patern/);
    await expect(decide({ tool_policy: { a: { policy: 'deny', when: { $async: true } } } }, 'a')).rejects.toThrow(/asynchronous|async/);
  });

  it('runs the patterns of a condition in linear time', async () => {
    const when = { properties: { text: { pattern: '^(a+)+$' } } };
    expect(await decide({ tool_policy: { a: { policy: 'deny', when } } }, 'a', { text: `${'a'.repeat(50_000)}!` })).toBe('ALLOW');
  });

  it('is not led astray by names of object members', async () => {
    expect(await decide({ tool_policy: { read_file: 'deny' } }, 'constructor')).toBe('ALLOW');
    expect(await decide({ tool_policy: { read_file: 'deny' } }, '__proto__')).toBe('ALLOW');
  });

  it('lets other actions pass', async () => {
    const checker = toolPolicyChecker({ constraints: appConstraints({ default_policy: 'deny' }), confirmDefault: undefined });
    expect((await checker.check('llm_call', { action: 'llm_call', usage: noUsage, metadata: {} }))[0]).toBe('ALLOW');
  });

  it.each([
    ['*', '', true],
    ['a*c', 'abbbc', true],
    ['a?c', 'abc', true],
    ['a?c', 'ac', false],
    ['*_file', 'read_files', false],
    ['read.file', 'read_file', false],
    ['**a**', 'bab', true],
  ])('glob %s on "%s": %s', (glob, name, matches) => {
    expect(globMatches(glob, name)).toBe(matches);
  });
});
