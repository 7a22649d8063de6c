import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const ROOT = new URL('../../../', import.meta.url);

test('THREAT_MODEL.md names every test of an attack, and none that is not there', () => {
  const page = readFileSync(new URL('THREAT_MODEL.md', ROOT), 'utf8');
  const [, list = ''] = page.split('## Attacks and their tests');
  const named = [...list.matchAll(/`([a-z0-9-]+)`/g)].map(([, name]) => name);
  const there = readdirSync(new URL('test/security/', ROOT))
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => name.replace('.test.ts', ''));
  expect(named.sort()).toEqual(there.sort());
});
