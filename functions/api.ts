import { apiLambda } from '../lib/runtime/aws.ts';

export const handler = apiLambda();
