import type { CliContext } from './context.ts';
import { EXIT } from './exit-codes.ts';

/** One Ctrl-C reaches a process several times: from the terminal, from npm, from the script that started us. */
const SAME_PRESS_MS = 500;

/**
 * Runs `work` with a signal that the first Ctrl-C (or SIGTERM) aborts, so that it can stop cleanly. A second one ends the
 * process at once. The reason of the abort is the name of the signal.
 */
export async function interruptible<T>(context: CliContext, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  let pressedAt: number | undefined;
  const listen = (name: 'SIGINT' | 'SIGTERM') => () => {
    const now = context.uptime();
    if (pressedAt !== undefined && now - pressedAt > SAME_PRESS_MS) context.exitNow(EXIT.interrupted);
    pressedAt ??= now;
    controller.abort(name);
  };
  const onInterrupt = listen('SIGINT');
  const onTerminate = listen('SIGTERM');
  context.signals.on('SIGINT', onInterrupt);
  context.signals.on('SIGTERM', onTerminate);
  try {
    return await work(controller.signal);
  } finally {
    context.signals.off('SIGINT', onInterrupt);
    context.signals.off('SIGTERM', onTerminate);
  }
}

/** Waits, or until the signal; true when it was the signal. */
export function pauseOr(ms: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(true);
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve(signal.aborted);
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
  });
}
