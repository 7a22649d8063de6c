import { expect, test } from 'vitest';
import { givenSandbox, PATIENCE_MS } from '../support/sandbox.ts';

const MB = 1024 * 1024;
/** A small limit, so that the machine of the test is spared; a bomb overshoots by what it grabs between two looks. */
const MEMORY_BYTES = 200 * MB;

const BOMBS = [
  ['python', 'x = []\nwhile True: x.append(b"x" * 10_000_000)'],
  ['javascript', 'const x = []; for (;;) x.push(new Uint8Array(10_000_000).fill(1));'],
  ['shell', 'python3 -c "x = []\nwhile True: x.append(b\'x\' * 10_000_000)"'],
] as const;

test.each(BOMBS)('%s is killed when it holds more than it may: %s', { timeout: PATIENCE_MS }, async (language, code) => {
  const { failure, peakBytes } = await givenSandbox({ limits: { memoryBytes: MEMORY_BYTES } });
  const error = await failure(language, code);
  expect(error).toMatchObject({ code: 'SANDBOX_CRASHED', message: expect.stringContaining('more than 200 MB of memory') });
  expect(peakBytes()).toBeGreaterThan(MEMORY_BYTES);
  expect(peakBytes()).toBeLessThan(2 * MEMORY_BYTES);
});

test('below that limit, an interpreter gives the script its own error', { timeout: PATIENCE_MS }, async () => {
  const { run } = await givenSandbox();
  const python = await run('python', 'try: bytearray(600_000_000)\nexcept MemoryError: print("refused")');
  expect(python).toMatchObject({ stdout: 'refused\n', exitCode: 0 });
  const shell = await run('shell', 'x=a; while true; do x="$x$x"; done');
  expect(shell).toMatchObject({ exitCode: 126, stderr: expect.stringContaining('limit exceeded') });
});

test('deep recursion is an error of the script', { timeout: PATIENCE_MS }, async () => {
  const { run } = await givenSandbox();
  expect(await run('python', 'def f(): return f()\nf()')).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('RecursionError') });
  expect(await run('javascript', 'function f() { return f() + 1 } f()')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('stack overflow'),
  });
});

test('recursion without the limit of Python is stopped, and its error shows nothing of the host', { timeout: PATIENCE_MS }, async () => {
  const { failure } = await givenSandbox({ limits: { memoryBytes: MEMORY_BYTES } });
  const error = await failure('python', 'import sys\nsys.setrecursionlimit(10**9)\ndef f(n): return f(n + 1) + 1\nprint(f(0))');
  expect(error.code).toBe('SANDBOX_CRASHED');
  expect(error.message).not.toContain(process.cwd());
});
