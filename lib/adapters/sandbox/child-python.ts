import { runPython } from './child-cpython.ts';
import { serve } from './child-entry.ts';
import { WORKSPACE_PATH } from './child-tree.ts';

const SCRIPT = '/tmp/script.py';

await serve(async ({ request, tree, stdout, stderr }) => {
  tree.set(SCRIPT, { data: Buffer.from(request.code), modifiedAt: 0 });
  return await runPython({
    vendor: request.vendor,
    args: [SCRIPT],
    cwd: WORKSPACE_PATH,
    env: { HOME: WORKSPACE_PATH, LANG: 'C.UTF-8' },
    stdin: Buffer.from(request.stdin),
    tree,
    roots: [WORKSPACE_PATH],
    fileSystemBytes: request.fileSystemBytes,
    stdout,
    stderr,
  });
});
