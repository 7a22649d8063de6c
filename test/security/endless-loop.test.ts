import { expect, test } from 'vitest';
import { givenSandbox, PATIENCE_MS, pathsOf } from '../support/sandbox.ts';

const LOOPS = [
  ['python', 'open("f", "w").write("x")\nwhile True: pass'],
  // Catches what it can: only a signal from outside ends it
  ['python', 'while True:\n  try:\n    while True: pass\n  except BaseException: pass'],
  ['python', 'import re\nre.match(r"(a+)+$", "a" * 64 + "b")'],
  ['javascript', 'for (;;);'],
  ['javascript', '/^(a+)+$/.test("a".repeat(64) + "b")'],
  ['shell', 'echo x > f; sleep 600'],
  ['shell', 'python3 -c "while True: pass"'],
] as const;

test.each(LOOPS)('%s is stopped at its deadline, and changes no file: %s', { timeout: PATIENCE_MS }, async (language, code) => {
  const { workspace, failure } = await givenSandbox();
  const error = await failure(language, code, { timeoutMs: 1_000 });
  expect(error.code).toBe('TIMEOUT');
  expect(error.message).toContain('within 1 s');
  expect(await pathsOf(workspace)).toEqual([]);
});

test('an endless loop of the shell ends by itself: commands are counted', { timeout: PATIENCE_MS }, async () => {
  const { run } = await givenSandbox();
  expect(await run('shell', 'while true; do :; done')).toMatchObject({ exitCode: 126 });
});

test('what a script printed before it hung is told', { timeout: PATIENCE_MS }, async () => {
  const { failure } = await givenSandbox();
  const error = await failure('python', 'print("got here")\nwhile True: pass', { timeoutMs: 6_000 });
  expect(error).toMatchObject({ code: 'TIMEOUT', message: expect.stringContaining('got here') });
});
