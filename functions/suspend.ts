import { suspendLambda } from '../lib/runtime/aws.ts';

export const handler = suspendLambda();
