import { measureBundles } from './bundle-sizes.ts';
import { measureDemo } from './demo.ts';
import { measureSteps } from './steps.ts';
import { measureTransitions } from './transitions.ts';

/** `npm run -s figures`: one JSON object of what was measured just now. Keys are added, never removed. */
const progress = (what: string): void => void (process.stderr.isTTY && process.stderr.write(`measuring ${what} …\n`));

progress('transitions');
const transitions = await measureTransitions();
progress('requests and overhead');
const { dynamodb, overheadMsPerIteration } = await measureSteps();
progress('the demo');
const demoMs = await measureDemo();
progress('bundles');
const { bundles, coldImportMs } = await measureBundles();
console.log(JSON.stringify({ transitions, bundles, coldImportMs, dynamodb, embedded: { overheadMsPerIteration, demoMs } }));
process.exit(0);
