import { RemovalPolicy } from 'aws-cdk-lib';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { Deployment } from './deployment.ts';

/** A log group as all of them are: under our key, for as long as the stage says, gone with the stack. */
export function logGroupOf(scope: Construct, id: string, deployment: Pick<Deployment, 'key' | 'settings'>, logGroupName: string): LogGroup {
  return new LogGroup(scope, id, {
    logGroupName,
    encryptionKey: deployment.key,
    retention: deployment.settings.logDays,
    removalPolicy: RemovalPolicy.DESTROY,
  });
}
