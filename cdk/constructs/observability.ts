import { Construct } from 'constructs';
import { Alarms, type AlarmsProps } from './alarms.ts';
import { Dashboard } from './dashboard.ts';
import { SavedQueries } from './saved-queries.ts';
import { MailTopic } from './topic.ts';

export type ObservabilityProps = Omit<AlarmsProps, 'topic'>;

/** What an operator looks at, and what looks for the operator. Metrics come out of the functions' logs. */
export class Observability extends Construct {
  readonly topic: MailTopic;

  constructor(scope: Construct, id: string, props: ObservabilityProps) {
    super(scope, id);
    const { deployment, functions, stateMachineArn } = props;
    const { name, alarmsMail, target } = deployment.settings;
    this.topic = new MailTopic(this, 'Alarms', { deployment, name: 'alarms', mail: alarmsMail, publisher: 'cloudwatch.amazonaws.com' });
    const { alarms } = new Alarms(this, 'Watch', { ...props, topic: this.topic.topic });
    new Dashboard(this, 'Overview', { name, alarms, functions, stateMachineArn });
    // MiniStack has no saved queries.
    if (target === 'aws') new SavedQueries(this, 'Queries', { name, functions });
  }
}
