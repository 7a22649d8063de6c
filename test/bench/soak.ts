import { playSchedule } from '../support/schedule.ts';

/** `npm run soak [first seed]`: plays schedules of faults until it is stopped or one breaks a promise; prints the seed that replays it. */
let seed = Number(process.argv[2] ?? Math.floor(performance.timeOrigin % 1_000_000_000));
const began = performance.now();
for (let played = 0; ; played++, seed++) {
  const report = await playSchedule(seed);
  if (report.violations.length > 0) {
    console.log(JSON.stringify(report));
    console.error(`replay it: npm run soak -- ${seed}`);
    process.exit(1);
  }
  if (played % 500 === 499)
    console.error(`${played + 1} schedules, ${Math.round((performance.now() - began) / 1000)} s, last seed ${seed}`);
}
