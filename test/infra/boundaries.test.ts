import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** What core must be given and never take; imports are the linter's business. */
const TAKEN = [
  /\bDate\.now\(/,
  /\bnew Date\(\)/,
  /\bMath\.random\(/,
  /\bprocess\./,
  /\bperformance\./,
  /\bsetTimeout\(/,
  /\bsetInterval\(/,
  /\bawait fetch\(/,
];
const MAX_LINES = 300;

const filesUnder = (directory: string): string[] =>
  readdirSync(join(ROOT, directory), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(?:ts|mjs)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length));

/** Code without its comments and texts. */
const bare = (source: string): string =>
  source.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '').replace(/'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g, "''");

describe('the shape of the project', () => {
  it('core takes no clock, chance, environment or network by itself', () => {
    const taken = filesUnder('lib/core').flatMap((file) =>
      TAKEN.filter((pattern) => pattern.test(bare(readFileSync(join(ROOT, file), 'utf8')))).map((pattern) => `${file}: ${pattern}`),
    );
    expect(taken).toEqual([]);
  });

  it('no file is over 300 lines', () => {
    const long = ['lib', 'cdk', 'functions']
      .flatMap(filesUnder)
      .filter((file) => readFileSync(join(ROOT, file), 'utf8').split('\n').length > MAX_LINES + 1);
    expect(long).toEqual([]);
  });

  it('a function is a few lines: it parses, calls and returns', () => {
    const thick = filesUnder('functions').filter((file) => readFileSync(join(ROOT, file), 'utf8').split('\n').length > 21);
    expect(thick).toEqual([]);
  });
});
