import { reasonLambda } from '../lib/runtime/aws.ts';

export const handler = reasonLambda();
