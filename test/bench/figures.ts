import { measureBundles } from './bundle-sizes.ts';
import { measureCost } from './cost.ts';
import { measureDemo } from './demo.ts';
import { measureFaults } from './faults.ts';
import { measureApproval, measureGuard } from './guard.ts';
import { measureInfra } from './infra.ts';
import { measureContention, measurePermits } from './permits.ts';
import { measureSandbox } from './sandbox.ts';
import { measureSkillLoading } from './skills.ts';
import { measureSteps } from './steps.ts';
import { measureTransitions } from './transitions.ts';
import { measureToolNodes, measureTrees } from './trees.ts';
import { measureSkillVectors, measureVectors } from './vectors.ts';
import { measureWebFetch } from './web-fetch.ts';

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
progress('vectors');
const vectors = await measureVectors();
const skills = { load500Ms: measureSkillLoading(), vectors: measureSkillVectors() };
progress('the sandbox');
const sandbox = await measureSandbox();
progress('trees');
const trees = { transitionsPerToolNode: await measureToolNodes(), ...measureTrees() };
progress('guard and approvals');
const guard = await measureGuard();
const approval = await measureApproval();
progress('faults');
const faults = await measureFaults();
progress('cost');
const { usdPer1000Iterations } = await measureCost();
const permits = { ...measurePermits(), onTable: await measureContention() };
progress('the templates');
const infra = await measureInfra();
const embedded = { overheadMsPerIteration, demoMs };
console.log(
  JSON.stringify({
    transitions,
    bundles,
    coldImportMs,
    dynamodb,
    embedded,
    webFetch,
    vectors,
    skills,
    sandbox,
    trees,
    guard,
    approval,
    faults,
    cost: { usdPer1000Iterations },
    permits,
    infra,
  }),
);
process.exit(0);
