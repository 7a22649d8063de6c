import { reasonLambda } from '../lib/runtime/aws.ts';
import { checkerModules } from '../lib/runtime/checker-modules.ts';

export const handler = reasonLambda(checkerModules);
