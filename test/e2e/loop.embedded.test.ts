import { embeddedRunner } from './embedded-runner.ts';
import { loopSuite } from './suite.ts';

loopSuite('embedded', embeddedRunner);
