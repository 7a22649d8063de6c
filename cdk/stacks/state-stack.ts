import { Stack, type StackProps } from 'aws-cdk-lib';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { Construct } from 'constructs';
import type { Settings } from '../config.ts';
import { DataKey } from '../constructs/data-key.ts';
import { Tables } from '../constructs/tables.ts';
import { WorkspaceBucket } from '../constructs/workspace-bucket.ts';

export interface StateStackProps extends StackProps {
  readonly settings: Settings;
}

/** What outlives a deployment: the tables, the bucket of the files, and the key that encrypts everything. */
export class StateStack extends Stack {
  readonly key: IKey;
  readonly tables: Tables;
  /** Undefined where there are no files, or an emulator keeps them. */
  readonly files: WorkspaceBucket | undefined;

  constructor(scope: Construct, id: string, props: StateStackProps) {
    super(scope, id, { ...props, description: 'Handrail: tables, files, and their key' });
    const { name, retain, target, network } = props.settings;
    this.key = new DataKey(this, 'Data', { name, retain }).key;
    this.tables = new Tables(this, 'Tables', { name, retain, key: this.key });
    const needed = target === 'aws' && network === 'isolated';
    this.files = needed ? new WorkspaceBucket(this, 'Workspace', { key: this.key, retain }) : undefined;
  }
}
