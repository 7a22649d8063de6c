import { expect, test } from 'vitest';
import { givenSandbox, PATIENCE_MS } from '../support/sandbox.ts';

const LIMITS = { keptOutputBytes: 10_000, outputBytes: 2_000_000 };

test.each([
  ['python', 'print("first")\nwhile True: print("x" * 1000)', 'BrokenPipeError'],
  ['javascript', 'console.log("first"); for (;;) console.log("x".repeat(1000));', 'EPIPE'],
  ['shell', 'echo first; while true; do printf "%1000s\\n" x; done', 'total output size exceeded'],
] as const)(
  '%s that prints without end is stopped, and the beginning and end of its output are kept',
  { timeout: PATIENCE_MS },
  async (language, code, error) => {
    const { run, peakBytes } = await givenSandbox({ limits: LIMITS });
    const result = await run(language, code);
    expect(result.exitCode).not.toBe(0);
    expect(result.stderr).toContain(error);
    expect(result.stdout.length).toBeLessThan(11_000);
    expect(peakBytes()).toBeLessThan(400 * 1024 * 1024);
  },
);

test('long output below the limit is cut in the middle, with a note of how much', { timeout: PATIENCE_MS }, async () => {
  const { run } = await givenSandbox({ limits: LIMITS });
  const result = await run('python', 'print("é" * 50_000, end="")\nprint("the end")');
  expect(result.exitCode).toBe(0);
  expect(result.stdout).toMatch(/^é+\n\[… \d+ bytes of output left out …\]\né+the end\n$/);
});
