import { startLocal } from '../../lib/runtime/local.ts';
import { localOptions } from '../e2e/embedded-runner.ts';

/** The suite's server as a process of its own: says where it listens, then serves until it is told to stop. */
const [directory = ''] = process.argv.slice(2);
try {
  const runtime = await startLocal(await localOptions(directory));
  process.stdout.write(`${JSON.stringify({ url: runtime.url, secret: runtime.secret })}\n`);
  process.once('SIGTERM', async () => {
    await runtime.close();
    process.exit(0);
  });
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
