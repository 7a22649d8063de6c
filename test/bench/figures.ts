import { measureBundles } from './bundle-sizes.ts';
import { measureDemo } from './demo.ts';
import { measureSteps } from './steps.ts';
import { measureTransitions } from './transitions.ts';
import { measureTrees } from './trees.ts';
import { measureSsrfVectors, measureWebFetch } from './web-fetch.ts';

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
progress('the web');
const webFetch = await measureWebFetch();
const vectors = { ssrf: await measureSsrfVectors() };
progress('trees');
const trees = measureTrees();
const embedded = { overheadMsPerIteration, demoMs };
console.log(JSON.stringify({ transitions, bundles, coldImportMs, dynamodb, embedded, webFetch, vectors, trees }));
process.exit(0);
