import { cloudRunner } from './cloud-runner.ts';
import { loopSuite } from './suite.ts';

loopSuite('deployed', cloudRunner);
