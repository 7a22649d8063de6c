import { Duration, Stack } from 'aws-cdk-lib';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { acknowledge } from './acknowledge.ts';
import type { Deployment } from './deployment.ts';
import { allow, type Right } from './grants.ts';

/** Events that settle and sweep could not take, kept for two weeks. Sweep makes up for all of them; that there is one is an alarm. */
export class DeadLetters extends Construct {
  readonly queue: Queue;

  constructor(scope: Construct, id: string, { settings, key }: Pick<Deployment, 'settings' | 'key'>) {
    super(scope, id);
    this.queue = new Queue(this, 'Queue', {
      queueName: `${settings.name}-dead-letters`,
      encryption: QueueEncryption.KMS,
      encryptionMasterKey: key,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    });
    acknowledge(this.queue, { 'AwsSolutions-SQS3': 'It is the queue for what others could not take' });
  }
}

/** Lambda puts what a function failed on into the queue in the function's name, encrypted. */
export function deadLetterRights(scope: Construct, { key }: Pick<Deployment, 'key'>): Right[] {
  const { region, urlSuffix } = Stack.of(scope);
  const viaQueue = { StringEquals: { 'kms:ViaService': `sqs.${region}.${urlSuffix}` } };
  return [allow({ sid: 'DeadLetterKey', actions: ['kms:Decrypt', 'kms:GenerateDataKey'], resources: [key.keyArn], conditions: viaQueue })];
}
