import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { customCheckers } from '../../../lib/core/guard/custom-checkers.ts';
import { loadCheckerModules } from '../../../lib/runtime/checkers.ts';
import { parseConfig } from '../../../lib/runtime/config.ts';

const FIXTURES = fileURLToPath(new URL('../../fixtures', import.meta.url));
let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'handrail-checkers-'));
});
afterEach(() => rm(directory, { recursive: true }));

describe('checkers named in the configuration', () => {
  it('are loaded relative to its directory', async () => {
    const modules = await loadCheckerModules(['./checkers/no-private-keys.ts'], FIXTURES);
    expect(customCheckers(modules)().map(({ name }) => name)).toEqual(['no_private_keys']);
  });

  it('that are not there, or break while they load, stop the start with their entry', async () => {
    await writeFile(join(directory, 'broken.mjs'), 'throw new Error("cannot work here")');
    await expect(loadCheckerModules(['./nowhere.ts'], directory)).rejects.toMatchObject({
      code: 'BAD_REQUEST',
      field: 'constraints.guard.checkers.0',
    });
    await expect(loadCheckerModules(['./broken.mjs'], directory)).rejects.toThrow(
      'constraints.guard.checkers.0: cannot load ./broken.mjs: cannot work here',
    );
  });

  it('can be named by the app alone', () => {
    expect(() => parseConfig('agents:\n  default:\n    constraints:\n      guard:\n        checkers: [./a.ts]\n', 'c.yaml')).toThrow(
      /^c\.yaml:5: agents\.default\.constraints\.guard\.checkers: there is no such setting/,
    );
    expect(() => parseConfig('constraints:\n  guard:\n    checkers:\n      - ./a.ts\n      - ./b.py\n', 'c.yaml')).toThrow(
      /^c\.yaml:5: constraints\.guard\.checkers\.1: /,
    );
  });
});
