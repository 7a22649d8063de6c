import { expect, test } from 'vitest';
import { givenSandbox, PATIENCE_MS } from '../support/sandbox.ts';

test('a fork bomb starts no process', { timeout: PATIENCE_MS }, async () => {
  const { run } = await givenSandbox();
  // Each of these would double processes without end on a real machine
  const shell = await run('shell', ':(){ :|:& };:');
  expect(shell.exitCode).not.toBe(0);
  const nested = await run('shell', 'f() { f & f; }; f');
  expect(nested.exitCode).not.toBe(0);
  const python = await run(
    'python',
    [
      'import os, subprocess, threading',
      'def attempt(name, work):',
      '    try: print(name, work())',
      '    except BaseException as error: print(name, type(error).__name__)',
      'attempt("fork", os.fork)',
      'attempt("system", lambda: os.system("echo hi"))',
      'attempt("popen", lambda: subprocess.run(["/bin/echo", "hi"]))',
      'attempt("thread", lambda: threading.Thread(target=print).start())',
    ].join('\n'),
  );
  expect(python.stdout.split('\n')).toEqual(['fork OSError', 'system -1', 'popen OSError', 'thread RuntimeError', '']);
  const javascript = await run('javascript', 'console.log(typeof Worker); require("child_process").fork("x")');
  expect(javascript).toMatchObject({ exitCode: 1, stdout: 'undefined\n' });
});
