import { expect, test, vi } from 'vitest';
import { givenSandbox, PATIENCE_MS } from '../support/sandbox.ts';

const SCRIPTS = [
  [
    'shell',
    'env; set; export -p; cat /proc/self/environ /proc/1/environ /proc/*/environ; echo "$AWS_SECRET_ACCESS_KEY"; printenv; echo end',
  ],
  [
    'python',
    [
      'import os',
      'print(dict(os.environ))',
      'for path in ["/proc/self/environ", "/proc/1/environ", f"/proc/{os.getppid()}/environ", "/proc/self/mem", "/proc/self/maps"]:',
      '    try: print(path, open(path, "rb").read(10**6))',
      '    except OSError as error: print(path, error)',
      'print("end")',
    ].join('\n'),
  ],
  [
    'javascript',
    [
      'import fs from "node:fs";',
      'console.log(process.env, Object.keys(globalThis));',
      'for (const path of ["/proc/self/environ", "/proc/1/environ"]) try { console.log(fs.readFileSync(path, "utf8")) } catch (error) { console.log(error.message) }',
      'console.log(new Function("return typeof process.mainModule")(), "end");',
    ].join('\n'),
  ],
] as const;

test.each(SCRIPTS)('%s finds no credential of the process that started it', { timeout: PATIENCE_MS }, async (language, code) => {
  // Given a parent with credentials, as a Lambda has them
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'CANARY-SECRET');
  vi.stubEnv('AWS_SESSION_TOKEN', 'CANARY-TOKEN');
  vi.stubEnv('ANTHROPIC_API_KEY', 'CANARY-KEY');
  // When a script looks everywhere
  const { run } = await givenSandbox();
  const result = await run(language, code);
  vi.unstubAllEnvs();
  // Then it has run to its end and seen none of them
  expect(result.stdout).toMatch(/end\n$/);
  expect(result.stdout + result.stderr).not.toContain('CANARY');
});
