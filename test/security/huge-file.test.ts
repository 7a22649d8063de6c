import { expect, test } from 'vitest';
import { givenSandbox, PATIENCE_MS, pathsOf } from '../support/sandbox.ts';

const MB = 1024 * 1024;

test.each([
  ['python', 'with open("big", "wb") as f:\n  while True: f.write(b"x" * 1_000_000)', 'No space left'],
  ['python', 'open("big", "wb").truncate(2**31 - 1)', 'No space left'],
  ['python', 'f = open("big", "wb")\nf.seek(2**31 - 10)\nf.write(b"x")\nf.close()', 'No space left'],
  ['javascript', 'import fs from "fs"; const x = new Uint8Array(1e6); for (;;) fs.appendFileSync("big", x);', 'ENOSPC'],
  ['shell', 'printf "%1000000s" x > big; while true; do cat big big > b2; cat b2 b2 > big; done', 'exceeded'],
] as const)(
  '%s that fills the disk gets an error of its own, and the file is refused: %s',
  { timeout: PATIENCE_MS },
  async (language, code, message) => {
    // Given room for 30 MB in all
    const { workspace, run } = await givenSandbox({ limits: { fileSystemBytes: 30 * MB } });
    // When a script catches the error and goes on, what it left is over the 10 MB of a file
    const outcome = await run(language, code).catch((error: unknown) => error);
    // Then the error was there, or the file is refused, and the workspace holds nothing too large
    if (outcome instanceof Error) expect(outcome).toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
    else expect(outcome).toMatchObject({ stderr: expect.stringContaining(message) });
    const entries = await workspace.list('.', { depth: 5, limit: 100 });
    expect(entries.filter((entry) => entry.bytes > 10 * MB)).toEqual([]);
  },
);

test('a file over 10 MB is refused with its size, and no other file is kept either', { timeout: PATIENCE_MS }, async () => {
  const { workspace, failure } = await givenSandbox();
  const error = await failure('python', 'open("small", "w").write("x")\nopen("big", "wb").write(b"x" * 11_000_000)');
  expect(error).toMatchObject({ code: 'RESOURCE_EXHAUSTED', message: expect.stringContaining('big has 10.5 MB') });
  expect(await pathsOf(workspace)).toEqual([]);
});

test('a large file may live in /tmp', { timeout: PATIENCE_MS }, async () => {
  const { run } = await givenSandbox();
  const result = await run('python', 'open("/tmp/big", "wb").write(b"x" * 50_000_000)\nimport os\nprint(os.path.getsize("/tmp/big"))');
  expect(result).toMatchObject({ stdout: '50000000\n', exitCode: 0, files: [] });
});
