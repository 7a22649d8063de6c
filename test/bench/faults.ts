import { playSchedule } from '../support/schedule.ts';

const SCHEDULES = 500;

/** Schedules of faults played just now, and what they broke. `npm test` plays 2,000, `npm run soak` goes on. */
export async function measureFaults(): Promise<{ readonly schedules: number; readonly violations: number }> {
  let violations = 0;
  for (let seed = 1; seed <= SCHEDULES; seed++) violations += (await playSchedule(100_000 + seed)).violations.length;
  return { schedules: SCHEDULES, violations };
}
