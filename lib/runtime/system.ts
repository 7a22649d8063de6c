import { randomBytes, randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Clock, Random } from '../core/ports/clock.ts';

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms) => pause(Math.max(0, ms)),
};

const RESOLUTION = 2 ** 47;

export const systemRandom: Random = {
  bytes: (count) => randomBytes(count),
  number: () => randomInt(RESOLUTION) / RESOLUTION,
};
