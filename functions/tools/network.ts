import { networkLambdaServices, toolLambda } from '../../lib/runtime/aws-tools.ts';
import { network, networkHandlers } from '../../lib/tools/network/category.ts';

export const handler = toolLambda(network, networkHandlers, networkLambdaServices);
