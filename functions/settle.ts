import { settleLambda } from '../lib/runtime/aws.ts';

export const handler = settleLambda();
