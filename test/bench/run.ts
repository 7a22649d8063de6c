import { measureBundles } from './bundle-sizes.ts';
import { measureCost } from './cost.ts';
import { measureDemo } from './demo.ts';
import { measureContention, measurePermits } from './permits.ts';
import { measureSandbox } from './sandbox.ts';
import { measureSteps } from './steps.ts';
import { measureTransitions } from './transitions.ts';
import { measureSkillVectors, measureVectors } from './vectors.ts';
import { measureWebFetch } from './web-fetch.ts';

/** `npm run bench`: the figures for people, one after another. */
const show = (title: string, values: object): void => {
  console.log(`\n${title}`);
  for (const [name, value] of Object.entries(values)) console.log(`  ${name.padEnd(16)} ${JSON.stringify(value)}`);
};
show('Transitions from a Reason to the next LLM call (target 4, 6, 12, 7, 7)', await measureTransitions());
const { dynamodb, overheadMsPerIteration } = await measureSteps();
show('DynamoDB for one step (at most 5 requests; what is sent stays flat)', dynamodb);
show('Embedded engine', { 'ms / iteration': overheadMsPerIteration, 'demo ms': await measureDemo() });
const { bundles, coldImportMs } = await measureBundles();
show('Bundles, bytes', bundles);
show('Cold import, ms', coldImportMs);
show('web_fetch against undici alone, ms', await measureWebFetch());
show('Vectors', { ...(await measureVectors()), skills: measureSkillVectors() });
show('Sandboxes, a fresh process for each call (target: shell 150 ms, python 200 ms)', await measureSandbox());
show('Cost of 1,000 iterations of one call each, USD (docs/cost.md)', await measureCost());
show('Permits under contention (50 runs; nothing exceeded, nobody starved)', measurePermits());
show('The same over a table of dynalite', await measureContention());
process.exit(0);
