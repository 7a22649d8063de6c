import type { Clock, Random } from '../../lib/core/ports/clock.ts';

/** A clock that tests move. `sleep` moves it. */
export class TestClock implements Clock {
  #now: number;
  constructor(now = 1_800_000_000_000) {
    this.#now = now;
  }
  now(): number {
    return this.#now;
  }
  advance(ms: number): void {
    this.#now += ms;
  }
  async sleep(ms: number): Promise<void> {
    this.#now += ms;
  }
}

/** A clock that runs by itself: as soon as nobody has anything else to do, whoever sleeps shortest is woken, at that time. */
export class VirtualClock implements Clock {
  #now: number;
  readonly #sleepers: { at: number; wake: () => void }[] = [];
  #running = false;
  constructor(now: number) {
    this.#now = now;
  }
  now(): number {
    return this.#now;
  }
  sleep(ms: number): Promise<void> {
    return new Promise((wake) => {
      const at = this.#now + Math.max(0, ms);
      const place = this.#sleepers.findLastIndex((sleeper) => sleeper.at <= at) + 1;
      this.#sleepers.splice(place, 0, { at, wake });
      if (!this.#running) this.#run();
    });
  }
  #run(): void {
    this.#running = true;
    setImmediate(() => {
      const next = this.#sleepers.shift();
      this.#running = next !== undefined;
      if (!next) return;
      this.#now = next.at;
      next.wake();
      this.#run();
    });
  }
}

/** Chance that repeats itself: a small generator from a seed (mulberry32). */
export function seededRandom(seed = 1): Random {
  let state = seed >>> 0;
  const number = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return { number, bytes: (count) => Uint8Array.from({ length: count }, () => Math.floor(number() * 256)) };
}
