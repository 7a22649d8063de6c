import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Linux: often enough that a process which grabs memory overshoots by 10 to 20 MB (measured). */
const POLL_MS = 40;
/** Where there is no /proc and each look costs a process. */
const SLOW_POLL_MS = 500;
const PAGE_BYTES = 4096;

export interface Watchdog {
  /** Most resident memory seen, bytes. */
  readonly peakBytes: number;
  stop(): void;
}

/** Calls `onExceeded` once when the process holds more than `limitBytes` of memory. No `ulimit` bounds that usably. */
export function watchMemory(pid: number, limitBytes: number, onExceeded: () => void): Watchdog {
  const state = { peakBytes: 0, stop: () => clearInterval(timer) };
  const see = (bytes: number | undefined): void => {
    if (bytes === undefined) return;
    state.peakBytes = Math.max(state.peakBytes, bytes);
    if (bytes <= limitBytes) return;
    state.stop();
    onExceeded();
  };
  const timer =
    process.platform === 'linux'
      ? setInterval(() => see(residentBytes(pid)), POLL_MS)
      : setInterval(() => execFile('/bin/ps', ['-o', 'rss=', '-p', String(pid)], (_error, text) => see(Number(text) * 1024)), SLOW_POLL_MS);
  return state;
}

/** Resident memory, undefined when the process is gone. Read at once, not queued behind other work. */
function residentBytes(pid: number): number | undefined {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ')[1]) * PAGE_BYTES;
  } catch {
    return undefined;
  }
}
