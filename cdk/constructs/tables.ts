import { RemovalPolicy } from 'aws-cdk-lib';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';
import { type AttributeDescription, type IndexDescription, TABLES, type TableId } from '../../lib/adapters/stores/dynamodb/tables.ts';
import { tableName } from '../../lib/manifest.ts';

export interface TablesProps {
  /** Prefix of the tables' names. */
  readonly name: string;
  readonly key: IKey;
  /** Keep them when the stack goes, and refuse to delete them before. */
  readonly retain: boolean;
}

/**
 * The three tables of `TABLES`: on demand, encrypted with our key, restorable to any second of the last 35 days.
 */
export class Tables extends Construct {
  readonly sessions: dynamodb.Table;
  readonly guard: dynamodb.Table;
  readonly memory: dynamodb.Table;

  constructor(scope: Construct, id: string, props: TablesProps) {
    super(scope, id);
    this.sessions = this.table('sessions', props);
    this.guard = this.table('guard', props);
    this.memory = this.table('memory', props);
  }

  private table(which: TableId, props: TablesProps): dynamodb.Table {
    const { hash, range, ttl, indexes } = TABLES[which];
    const table = new dynamodb.Table(this, which[0]?.toUpperCase() + which.slice(1), {
      tableName: tableName(props.name, which),
      partitionKey: attribute(hash),
      sortKey: attribute(range),
      billingMode: dynamodb.BillingMode.PAY_PER_REQUEST,
      encryption: dynamodb.TableEncryption.CUSTOMER_MANAGED,
      encryptionKey: props.key,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: props.retain,
      removalPolicy: props.retain ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
      timeToLiveAttribute: ttl,
    });
    for (const index of indexes) table.addGlobalSecondaryIndex(secondaryIndex(index));
    return table;
  }
}

function secondaryIndex(index: IndexDescription): dynamodb.GlobalSecondaryIndexProps {
  const keys = { indexName: index.name, partitionKey: attribute(index.hash), sortKey: attribute(index.range) };
  return index.include.length === 0
    ? { ...keys, projectionType: dynamodb.ProjectionType.KEYS_ONLY }
    : { ...keys, projectionType: dynamodb.ProjectionType.INCLUDE, nonKeyAttributes: [...index.include] };
}

function attribute({ name, type }: AttributeDescription): dynamodb.Attribute {
  return { name, type: type === 'S' ? dynamodb.AttributeType.STRING : dynamodb.AttributeType.NUMBER };
}
