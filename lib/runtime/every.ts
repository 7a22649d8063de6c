import type { Logger } from '../core/ports/logger.ts';

/** Does something again and again, never twice at once. The function it returns ends that. */
export function every(ms: number, action: () => Promise<unknown>, logger: Pick<Logger, 'error'>, failed: string): () => Promise<void> {
  let stopped = false;
  let running: Promise<unknown> = Promise.resolve();
  const timer = setInterval(() => {
    if (!stopped) running = running.then(() => (stopped ? undefined : action())).catch((error) => logger.error(failed, error));
  }, ms);
  return async () => {
    stopped = true;
    clearInterval(timer);
    await running;
  };
}
