import { HandrailError } from '../../core/errors.ts';

/** `work`, or a TIMEOUT as soon as the signal is aborted, for what cannot be interrupted itself. */
export async function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const ended = Promise.withResolvers<never>();
  const end = (): void => ended.reject(timedOut(signal));
  if (signal.aborted) end();
  signal.addEventListener('abort', end, { once: true });
  try {
    return await Promise.race([ended.promise, work]);
  } finally {
    signal.removeEventListener('abort', end);
  }
}

export function timedOut(signal: AbortSignal): HandrailError {
  return new HandrailError('TIMEOUT', 'The request was ended before it was answered in full.', { cause: signal.reason });
}
