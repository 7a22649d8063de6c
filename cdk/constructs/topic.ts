import { Stack } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import type { Deployment } from './deployment.ts';
import { allow, type Right } from './grants.ts';

export interface MailTopicProps {
  readonly deployment: Pick<Deployment, 'settings' | 'key'>;
  /** Of the topic, behind the deployment's own. */
  readonly name: string;
  /** Who is mailed; SNS asks them first whether they want it. */
  readonly mail: string | undefined;
  /** A service of AWS that publishes to it by itself. */
  readonly publisher?: string;
}

/** A topic under our key, whose messages go out by mail and to whatever else is subscribed later. */
export class MailTopic extends Construct {
  readonly topic: Topic;

  constructor(scope: Construct, id: string, { deployment, name, mail, publisher }: MailTopicProps) {
    super(scope, id);
    const { settings, key } = deployment;
    this.topic = new Topic(this, 'Topic', { topicName: `${settings.name}-${name}`, masterKey: key, enforceSSL: true });
    if (publisher !== undefined) {
      this.topic.addToResourcePolicy(
        new PolicyStatement({
          sid: 'Publisher',
          principals: [new ServicePrincipal(publisher)],
          actions: ['sns:Publish'],
          resources: [this.topic.topicArn],
          conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } },
        }),
      );
    }
    if (mail !== undefined) this.topic.addSubscription(new EmailSubscription(mail));
  }

  /** For a function that publishes to it. */
  publishRights({ key }: Pick<Deployment, 'key'>): Right[] {
    const { region, urlSuffix } = Stack.of(this);
    const viaTopic = { StringEquals: { 'kms:ViaService': `sns.${region}.${urlSuffix}` } };
    return [
      allow({ sid: 'ApprovalsTopic', actions: ['sns:Publish'], resources: [this.topic.topicArn] }),
      allow({ sid: 'TopicKey', actions: ['kms:Decrypt', 'kms:GenerateDataKey'], resources: [key.keyArn], conditions: viaTopic }),
    ];
  }
}
