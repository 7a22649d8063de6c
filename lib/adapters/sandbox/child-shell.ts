import { Bash, type CommandName, defineCommand, getCommandNames, InMemoryFs, latin1FromBytes } from 'just-bash';
import { runPython } from './child-cpython.ts';
import { type ChildJob, crashOf, serve } from './child-entry.ts';
import { type FileTree, type TreeChanges, WORKSPACE_PATH } from './child-tree.ts';

/** What a shell and a Python started from it both see. */
const SHARED = [WORKSPACE_PATH, '/tmp'];
/** What a shell reports of a command that a segmentation fault ended. */
const CRASHED = 139;
/** `ln`: the workspace holds no links. `sqlite3`: needs a worker thread, which the child may not start. */
const LEFT_OUT = new Set<CommandName>(['ln', 'sqlite3']);

await serve(async (job) => {
  const files = new InMemoryFs(undefined, { maxTotalBytes: job.request.fileSystemBytes });
  files.mkdirSync('/tmp', { recursive: true });
  files.mkdirSync(WORKSPACE_PATH, { recursive: true });
  load(files, job.tree);
  const bash = new Bash({
    fs: files,
    cwd: WORKSPACE_PATH,
    env: { HOME: WORKSPACE_PATH, LANG: 'C.UTF-8' },
    commands: getCommandNames().filter((name): name is CommandName => !LEFT_OUT.has(name as CommandName)),
    customCommands: ['python3', 'python'].map((name) => pythonCommand(name, job, files)),
    executionLimits: {
      maxExecutionTimeMs: job.request.timeoutMs,
      maxOutputSize: job.request.outputBytes,
      maxFileSystemBytes: job.request.fileSystemBytes,
    },
  });
  const result = await bash.exec(job.request.code, { stdin: job.request.stdin });
  job.stdout(bytesOf(result.stdout, result.stdoutKind).subarray(0, job.request.outputBytes));
  job.stderr(Buffer.from(result.stderr).subarray(0, job.request.outputBytes));
  return { exitCode: result.exitCode, changes: await changesOf(files, job.tree, [WORKSPACE_PATH]) };
});

function load(files: InMemoryFs, tree: FileTree): void {
  for (const [path, file] of tree) {
    if (file === undefined) files.mkdirSync(path, { recursive: true });
    else files.writeFileSync(path, file.data, undefined, { mtime: new Date(file.modifiedAt) });
  }
}

/** `python3` of a script: the same interpreter as execute_python's, in this process, on the shell's files. */
function pythonCommand(name: string, job: ChildJob, files: InMemoryFs) {
  return defineCommand(name, async (args, context) => {
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    let left = job.request.outputBytes;
    const keep = (chunks: Buffer[]) => (bytes: Uint8Array) => {
      left -= bytes.length;
      if (left >= 0) chunks.push(Buffer.from(bytes));
      return left >= 0;
    };
    const run = {
      vendor: job.request.vendor,
      args,
      cwd: context.cwd,
      env: { ...context.exportedEnv },
      stdin: Buffer.from(latin1FromBytes(context.stdin), 'latin1'),
      tree: await treeOf(files, SHARED),
      roots: SHARED,
      fileSystemBytes: job.request.fileSystemBytes,
      stdout: keep(out),
      stderr: keep(err),
    };
    let exitCode = CRASHED;
    try {
      const result = await runPython(run);
      await apply(files, result.changes);
      exitCode = result.exitCode;
    } catch (error) {
      err.push(Buffer.from(`${name}: the interpreter broke: ${crashOf(error)}\n`));
    }
    return { stdout: Buffer.concat(out).toString('latin1'), stdoutKind: 'bytes', stderr: Buffer.concat(err).toString(), exitCode };
  });
}

async function apply(files: InMemoryFs, changes: TreeChanges): Promise<void> {
  for (const path of changes.removed) await files.rm(path, { recursive: true, force: true });
  for (const path of changes.directories) files.mkdirSync(path, { recursive: true });
  // Copied: the interpreter wrote in place into what may be the very bytes the shell still holds.
  for (const [path, data] of changes.files) files.writeFileSync(path, data.slice());
}

async function treeOf(files: InMemoryFs, roots: readonly string[]): Promise<FileTree> {
  const tree: FileTree = new Map();
  for (const path of files.getAllPaths()) {
    if (!roots.some((root) => path.startsWith(`${root}/`))) continue;
    const stat = await files.lstat(path);
    if (stat.isDirectory) tree.set(path, undefined);
    else if (stat.isFile) tree.set(path, { data: await files.readFileBuffer(path), modifiedAt: stat.mtime.getTime() });
  }
  return tree;
}

/** InMemoryFs replaces a file's bytes and never writes into them, so the same bytes mean an unchanged file. */
async function changesOf(files: InMemoryFs, before: FileTree, roots: readonly string[]): Promise<TreeChanges> {
  const after = await treeOf(files, roots);
  const changed = new Map<string, Uint8Array>();
  const directories: string[] = [];
  for (const [path, file] of after) {
    if (file === undefined) {
      if (!before.has(path) || before.get(path) !== undefined) directories.push(path);
    } else if (before.get(path)?.data !== file.data) changed.set(path, file.data);
  }
  const skipped = files.getAllPaths().filter((path) => path.startsWith(`${WORKSPACE_PATH}/`) && !after.has(path));
  return { files: changed, directories: directories.sort(), removed: [...before.keys()].filter((path) => !after.has(path)), skipped };
}

/** just-bash gives text, or bytes as a string of one character each. */
function bytesOf(stdout: string, kind: 'text' | 'bytes' | undefined): Buffer {
  return Buffer.from(stdout, kind === 'bytes' ? 'latin1' : 'utf8');
}
