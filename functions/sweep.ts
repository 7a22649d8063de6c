import { sweepLambda } from '../lib/runtime/aws.ts';

export const handler = sweepLambda();
