import { describe, expect, it } from 'vitest';
import { checkPermissions, isDomainAllowed, isPathAllowed } from '../../../../lib/core/hands/permissions.ts';

describe('checkPermissions', () => {
  it('names each thing that goes beyond the policy', () => {
    const declared = {
      filesystem: { read: ['**'], write: ['/**', 'out/*'] },
      network: { allowedDomains: ['a.com', 'evil.com'], allowedPorts: [443, 8080] },
      execution: { allowedCommands: ['sh', 'rm'] },
    };
    const policy = {
      filesystem: { read: ['**'], write: ['out/**'] },
      network: { allowedDomains: ['a.com'] },
      execution: { allowedCommands: ['sh'] },
    };
    expect(checkPermissions(declared, policy)).toEqual([
      'filesystem.write: "/**"',
      'network.allowedDomains: "evil.com"',
      'network.allowedPorts: "8080"',
      'execution.allowedCommands: "rm"',
    ]);
  });

  it('a part the policy does not mention allows nothing; nothing declared needs nothing', () => {
    expect(checkPermissions({ filesystem: { read: ['a'] } }, {})).toEqual(['filesystem.read: "a"']);
    expect(checkPermissions({}, {})).toEqual([]);
  });

  it('domains without ports mean 80 and 443', () => {
    expect(
      checkPermissions({ network: { allowedDomains: ['a.com'] } }, { network: { allowedDomains: ['*'], allowedPorts: [443] } }),
    ).toEqual(['network.allowedPorts: "80"']);
  });
});

describe('domain rules', () => {
  it.each([
    ['a.com', 'a.com', true],
    ['A.com.', 'a.com', true],
    ['x.a.com', 'a.com', false],
    ['x.a.com', '*.a.com', true],
    ['y.x.a.com', '*.a.com', true],
    ['a.com', '*.a.com', false],
    ['evila.com', '*.a.com', false],
    ['*.a.com', '*.a.com', true],
    ['*.x.a.com', '*.a.com', true],
    ['*.a.com', 'a.com', false],
    ['*', '*.a.com', false],
    ['anything', '*', true],
    ['*', '*', true],
    ['', '*', false],
    ['a.com.evil.com', 'a.com', false],
  ])('%s under %s: %s', (domain, rule, allowed) => {
    expect(isDomainAllowed(domain, [rule])).toBe(allowed);
  });
});

describe('path globs', () => {
  it.each([
    ['a/b.txt', '**', true],
    ['a/b.txt', 'a/*', true],
    ['a/b/c.txt', 'a/*', false],
    ['a/b/c.txt', 'a/**', true],
    ['a', 'a/**', true],
    ['**', 'a/**', false],
    ['a/**', '**', true],
    ['a/**', 'a/*', false],
    ['a/*', 'a/**', true],
    ['a/*.txt', 'a/*', true],
    ['a/*', 'a/*.txt', false],
    ['a/x*.txt', 'a/*.txt', true],
    ['a/?.txt', 'a/*.txt', true],
    ['a/*.txt', 'a/?.txt', false],
    ['/**', '**', false],
    ['/etc/passwd', '**', false],
    ['a', '/**', false],
    ['/a/b', '/a/**', true],
    ['../x', '**', false],
    ['a/../../x', '**', false],
    ['./a', 'a', true],
    ['a\\b', '**', false],
    ['', '**', false],
    ['a/b/c', '**/c', true],
    ['a/b/c', '**/b/**', true],
    ['a/b/c', '**/d', false],
  ])('%s under %s: %s', (path, pattern, allowed) => {
    expect(isPathAllowed(path, [pattern])).toBe(allowed);
  });

  it('many wildcards cost no more than their product', () => {
    expect(isPathAllowed('a/'.repeat(300), [`${'**/'.repeat(300)}b`])).toBe(false);
    expect(isPathAllowed('a'.repeat(2_000), [`${'*a'.repeat(300)}b`])).toBe(false);
  });
});
