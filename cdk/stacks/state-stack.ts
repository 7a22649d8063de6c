import { RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib';
import { Key } from 'aws-cdk-lib/aws-kms';
import type { Construct } from 'constructs';
import { Tables } from '../constructs/tables.ts';

export interface StateStackProps extends StackProps {
  /** Prefix of the tables' names. */
  readonly name: string;
}

/** What outlives a deployment: the tables and the key that encrypts them and the executions. Retained. */
export class StateStack extends Stack {
  readonly key: Key;
  readonly tables: Tables;

  constructor(scope: Construct, id: string, props: StateStackProps) {
    super(scope, id, { ...props, description: 'Handrail: sessions, guard and memory tables, and their key' });
    this.key = new Key(this, 'Key', {
      description: `Tables and executions of ${props.name}`,
      enableKeyRotation: true,
      removalPolicy: RemovalPolicy.RETAIN,
    });
    this.tables = new Tables(this, 'Tables', { name: props.name, key: this.key });
  }
}
