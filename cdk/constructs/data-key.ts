import { Aws, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';
import { SERVICE_KEY_ACTIONS } from './grants.ts';

export interface DataKeyProps {
  /** Prefix of the names of what it encrypts. */
  readonly name: string;
  readonly retain: boolean;
}

const ENVELOPE_ACTIONS = ['Decrypt', 'GenerateDataKey'];

/**
 * The one key of a deployment: tables, files, executions, logs, topics and queues. Roles are given it by their own
 * policies; services that act for nobody are named here, each for what is ours only.
 */
export class DataKey extends Construct {
  readonly key: Key;

  constructor(scope: Construct, id: string, { name, retain }: DataKeyProps) {
    super(scope, id);
    this.key = new Key(this, 'Key', {
      description: `Everything that ${name} keeps`,
      enableKeyRotation: true,
      removalPolicy: retain ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
    const { account, region } = Stack.of(this);
    const inLogs = (resource: string) => `arn:${Aws.PARTITION}:logs:${region}:${account}:${resource}`;
    const groups = [`/aws/lambda/${name}-*`, `/aws/vendedlogs/*/${name}*`, `/aws/vpc/${name}`].map((group) => inLogs(`log-group:${group}`));
    this.serve('Logs', `logs.${region}.amazonaws.com`, SERVICE_KEY_ACTIONS, { ArnLike: { 'kms:EncryptionContext:aws:logs:arn': groups } });
    // Step Functions hands its log to the delivery service encrypted.
    this.serve('LogDelivery', 'delivery.logs.amazonaws.com', ['Decrypt'], {
      StringEquals: { 'kms:EncryptionContext:SourceArn': inLogs('*') },
    });
    // Alarms are sent to an encrypted topic, events that nobody could take to an encrypted queue.
    const ofUs = { StringEquals: { 'aws:SourceAccount': account } };
    this.serve('Alarms', 'cloudwatch.amazonaws.com', ENVELOPE_ACTIONS, ofUs);
    this.serve('Events', 'events.amazonaws.com', ENVELOPE_ACTIONS, ofUs);
  }

  private serve(sid: string, service: string, actions: readonly string[], conditions: Record<string, unknown>): void {
    this.key.addToResourcePolicy(
      new PolicyStatement({
        sid,
        principals: [new ServicePrincipal(service)],
        actions: actions.map((action) => `kms:${action}`),
        // In the policy of a key, this is the key.
        resources: ['*'],
        conditions,
      }),
    );
  }
}
