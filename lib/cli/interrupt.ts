import type { CliContext } from './context.ts';
import { EXIT } from './exit-codes.ts';

/** One Ctrl-C reaches a process several times: from the terminal, from npm, from the script that started us. */
const SAME_PRESS_MS = 500;

type SignalName = 'SIGINT' | 'SIGTERM';

/** Calls `onPress` once for each Ctrl-C (or SIGTERM), until the function that it returns is called. */
export function onInterrupt(context: CliContext, onPress: (name: SignalName) => void): () => void {
  let pressedAt: number | undefined;
  const listen = (name: SignalName) => () => {
    const now = context.uptime();
    if (pressedAt !== undefined && now - pressedAt <= SAME_PRESS_MS) return;
    pressedAt = now;
    onPress(name);
  };
  const listeners = (['SIGINT', 'SIGTERM'] as const).map((name) => ({ name, listener: listen(name) }));
  for (const { name, listener } of listeners) context.signals.on(name, listener);
  return () => {
    for (const { name, listener } of listeners) context.signals.off(name, listener);
  };
}

/**
 * Runs `work` with a signal that the first Ctrl-C (or SIGTERM) aborts, so that it can stop cleanly. A second one ends the
 * process at once. The reason of the abort is the name of the signal.
 */
export async function interruptible<T>(context: CliContext, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const stop = onInterrupt(context, (name) => {
    if (controller.signal.aborted) context.exitNow(EXIT.interrupted);
    controller.abort(name);
  });
  try {
    return await work(controller.signal);
  } finally {
    stop();
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
