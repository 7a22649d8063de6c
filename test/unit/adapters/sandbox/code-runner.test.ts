import { describe, expect, test } from 'vitest';
import { HandrailError } from '../../../../lib/core/errors.ts';
import { givenSandbox, PATIENCE_MS, pathsOf } from '../../../support/sandbox.ts';
import { readText, text } from '../../../support/workspace.ts';

const LANGUAGES = ['shell', 'python', 'javascript'] as const;

/** The same work in each language, so that the three are held to one behaviour. */
const SCRIPTS = {
  shell: {
    print: 'echo out; echo err >&2; exit 3',
    stdin: 'cat',
    files:
      'cat notes/a.txt; echo more >> notes/a.txt; mv old.txt new.txt; rm gone.txt; rm -r dir; mkdir -p made/deep empty; printf "é" > made/deep/b.txt; cat kept.txt > /tmp/x',
  },
  python: {
    print: 'import sys\nprint("out")\nprint("err", file=sys.stderr)\nsys.exit(3)',
    stdin: 'import sys\nprint(sys.stdin.read(), end="")',
    files: [
      'import os, shutil',
      'print(open("notes/a.txt").read(), end="")',
      'open("notes/a.txt", "a").write("more\\n")',
      'os.rename("old.txt", "new.txt"); os.remove("gone.txt"); shutil.rmtree("dir")',
      'os.makedirs("made/deep"); os.mkdir("empty")',
      'open("made/deep/b.txt", "w", encoding="utf-8").write("é")',
      'open("/tmp/x", "w").write(open("kept.txt").read())',
    ].join('\n'),
  },
  javascript: {
    print: 'console.log("out"); console.error("err"); process.exit(3)',
    stdin: 'import fs from "node:fs"; process.stdout.write(fs.readFileSync(0, "utf8"))',
    files: [
      'import fs from "node:fs"; import { readFile } from "fs/promises"; import { join } from "path";',
      'process.stdout.write(await readFile("notes/a.txt", "utf8"));',
      'fs.appendFileSync(join("notes", "a.txt"), "more\\n");',
      'fs.renameSync("old.txt", "new.txt"); fs.unlinkSync("gone.txt"); fs.rmSync("dir", { recursive: true });',
      'fs.mkdirSync("made/deep", { recursive: true }); fs.mkdirSync("empty");',
      'fs.writeFileSync("made/deep/b.txt", "é");',
      'fs.writeFileSync("/tmp/x", fs.readFileSync("kept.txt"));',
    ].join('\n'),
  },
} as const;

describe.each(LANGUAGES)('%s', { timeout: PATIENCE_MS }, (language) => {
  const scripts = SCRIPTS[language];

  test('returns stdout, stderr and the exit code of a script that fails', async () => {
    const sandbox = await givenSandbox();
    expect(await sandbox.run(language, scripts.print)).toEqual({ stdout: 'out\n', stderr: 'err\n', exitCode: 3, files: [] });
  });

  test('gives a script its standard input, and runs without a workspace', async () => {
    const sandbox = await givenSandbox();
    const result = await sandbox.run(language, scripts.stdin, { stdin: 'línea 1\nlínea 2\n', workspace: undefined });
    expect(result).toEqual({ stdout: 'línea 1\nlínea 2\n', stderr: '', exitCode: 0, files: [] });
  });

  test('keeps files written, appended to, renamed and removed, and directories, empty ones too', async () => {
    // Given files of the session
    const { workspace, run } = await givenSandbox();
    for (const [path, content] of Object.entries({
      'notes/a.txt': 'one\n',
      'old.txt': 'o',
      'gone.txt': 'g',
      'kept.txt': 'k',
      'dir/x.txt': 'x',
    })) {
      await workspace.write(path, text(content), 'create');
    }

    // When a script changes them
    const result = await run(language, scripts.files);

    // Then the workspace is as the script left it, and the result names what changed
    expect(result).toMatchObject({ stdout: 'one\n', stderr: '', exitCode: 0 });
    expect(await pathsOf(workspace)).toEqual(
      ['empty/', 'kept.txt', 'made/', 'made/deep/', 'made/deep/b.txt', 'new.txt', 'notes/', 'notes/a.txt'].sort(),
    );
    expect(await readText(workspace, 'notes/a.txt')).toBe('one\nmore\n');
    expect(await readText(workspace, 'made/deep/b.txt')).toBe('é');
    expect(result.files).toEqual(['dir', 'empty', 'gone.txt', 'made/deep/b.txt', 'new.txt', 'notes/a.txt', 'old.txt']);
  });
});

describe('python', { timeout: PATIENCE_MS }, () => {
  test('notices bytes that are written in place, and a file that is cut or only touched by name', async () => {
    const { workspace, run } = await givenSandbox();
    for (const path of ['patched.bin', 'cut.txt', 'same.txt']) await workspace.write(path, text('0123456789'), 'create');
    const code = [
      'with open("patched.bin", "r+b") as f: f.write(b"X")',
      'import os',
      'os.truncate("cut.txt", 4)',
      'open("same.txt").read()',
    ];
    const result = await run('python', code.join('\n'));
    expect(result.files).toEqual(['cut.txt', 'patched.bin']);
    expect([await readText(workspace, 'patched.bin'), await readText(workspace, 'cut.txt')]).toEqual(['X123456789', '0123']);
  });

  test('imports modules of the workspace, and a file named like a module of Python does not break it', async () => {
    const { workspace, run } = await givenSandbox();
    await workspace.write('mine.py', text('VALUE = 7'), 'create');
    await workspace.write('json.py', text('raise Exception("shadowed")'), 'create');
    const result = await run('python', 'import mine, json\nprint(mine.VALUE, json.dumps([1]))');
    expect(result).toMatchObject({ stdout: '7 [1]\n', exitCode: 0 });
  });

  test('shows a traceback with the line of the script and no path of the host', async () => {
    const { run } = await givenSandbox();
    const result = await run('python', 'x = 1\nx / 0');
    expect(result.exitCode).toBe(1);
    expect(result.stderr).toContain('line 2');
    expect(result.stderr).toContain('ZeroDivisionError');
    expect(result.stderr).not.toContain(process.cwd());
  });
});

describe('shell', { timeout: PATIENCE_MS }, () => {
  test('calls python3 on the files as they are at that moment, with arguments, a pipe and a here-document', async () => {
    const { workspace, run } = await givenSandbox();
    await workspace.write(
      'count.py',
      text('import sys\nprint(sys.argv[1:], len(sys.stdin.read()))\nopen("from-python.txt", "w").write("p")'),
      'create',
    );
    const script = [
      'echo hello > from-shell.txt',
      'cat from-shell.txt | python3 count.py a "b c"',
      "python3 - <<'E'",
      'import os',
      'print(sorted(os.listdir(".")))',
      'with open("from-shell.txt", "r+") as f: f.write("J")',
      'E',
      'cat from-shell.txt; python3 -c "raise SystemExit(4)"; echo "status $?"; rm count.py',
    ];
    const result = await run('shell', script.join('\n'));
    expect(result.stdout).toBe("['a', 'b c'] 6\n['count.py', 'from-python.txt', 'from-shell.txt']\nJello\nstatus 4\n");
    expect(await pathsOf(workspace)).toEqual(['from-python.txt', 'from-shell.txt']);
  });

  test('says that a command does not exist', async () => {
    const { run } = await givenSandbox();
    const commands = ['curl', 'git', 'node', 'ln'];
    const result = await run('shell', commands.map((command) => `${command} x`).join('; '));
    expect(result.exitCode).toBe(127);
    for (const command of commands) expect(result.stderr).toContain(`${command}: command not found`);
  });
});

describe('javascript', { timeout: PATIENCE_MS }, () => {
  test('waits for timers and promises, and imports files of the workspace', async () => {
    const { workspace, run } = await givenSandbox();
    await workspace.write('lib/twice.js', text('export const twice = (n) => n * 2;'), 'create');
    const code =
      'import { twice } from "./lib/twice.js"; setTimeout(() => console.log("timer", twice(21)), 20); await null; console.log("first");';
    expect(await run('javascript', code)).toMatchObject({ stdout: 'first\ntimer 42\n', exitCode: 0 });
  });

  test('reports what a script throws, and what does not exist', async () => {
    const { run } = await givenSandbox();
    expect(await run('javascript', 'throw new TypeError("no")')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('TypeError: no'),
    });
    const missing = await run('javascript', 'require("child_process")');
    expect(missing).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("Cannot find module 'child_process'") });
    expect(missing.stderr).not.toContain(process.cwd());
  });
});

describe('limits', { timeout: PATIENCE_MS }, () => {
  test('an abort ends the child with the reason it was given, and keeps no change', async () => {
    const { workspace, failure } = await givenSandbox();
    const abort = new AbortController();
    const pending = failure('shell', 'echo x > f.txt; sleep 60', { signal: abort.signal });
    setTimeout(() => abort.abort(new HandrailError('CANCELLED', 'stopped by a person')), 500);
    expect(await pending).toMatchObject({ code: 'CANCELLED', message: 'stopped by a person' });
    expect(await pathsOf(workspace)).toEqual([]);
  });

  test('a signal that is aborted already starts nothing', async () => {
    const { failure, peakBytes } = await givenSandbox();
    expect(await failure('shell', 'echo x', { signal: AbortSignal.abort() })).toMatchObject({ code: 'CANCELLED' });
    expect(peakBytes()).toBe(0);
  });

  test('a script that leaves too many files has them all refused, with the numbers', async () => {
    const { workspace, failure } = await givenSandbox();
    const error = await failure('python', 'for i in range(3000): open(f"f{i}", "w").write("x")');
    expect(error).toMatchObject({ code: 'RESOURCE_EXHAUSTED', message: expect.stringContaining('3000') });
    expect(await pathsOf(workspace)).toEqual([]);
  });

  test('names that a workspace does not take are told, the rest is kept', async () => {
    const { workspace, run } = await givenSandbox();
    const result = await run('python', 'open("a\\\\b", "w").write("1")\nopen("ok", "w").write("2")');
    expect(result.stderr).toContain('[sandbox] not kept');
    expect(await pathsOf(workspace)).toEqual(['ok']);
  });
});
