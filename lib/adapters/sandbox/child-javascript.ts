import { serve } from './child-entry.ts';
import { runJavaScript } from './child-quickjs.ts';

await serve(async ({ request, tree, stdout, stderr }) => {
  return await runJavaScript({
    vendor: request.vendor,
    code: request.code,
    stdin: request.stdin,
    tree,
    fileSystemBytes: request.fileSystemBytes,
    stdout: (text) => stdout(Buffer.from(text)),
    stderr: (text) => stderr(Buffer.from(text)),
  });
});
