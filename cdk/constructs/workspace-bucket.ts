import { Aws, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { BlockPublicAccess, Bucket, BucketEncryption, ObjectOwnership } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { acknowledge } from './acknowledge.ts';
import { allow, grant } from './grants.ts';

export interface WorkspaceBucketProps {
  readonly key: IKey;
  /** Keep it, and what is in it, when the stack goes. */
  readonly retain: boolean;
}

/** Days that a file can be brought back after it was changed or removed. */
const OLD_VERSIONS_DAYS = 30;

/** What Amazon S3 Files does in the bucket to keep it and the file system the same. */
const BUCKET_ACTIONS = ['ListBucket', 'ListBucketVersions', 'ListBucketMultipartUploads'];
const OBJECT_ACTIONS = [
  'AbortMultipartUpload',
  'DeleteObject',
  'DeleteObjectVersion',
  'GetObject',
  'GetObjectAttributes',
  'GetObjectTagging',
  'GetObjectVersion',
  'GetObjectVersionAttributes',
  'GetObjectVersionTagging',
  'ListMultipartUploadParts',
  'PutObject',
  'PutObjectTagging',
];
const KEY_ACTIONS = ['Decrypt', 'Encrypt', 'GenerateDataKey', 'ReEncryptFrom', 'ReEncryptTo'];
/** It learns of changes in the bucket by rules of its own. */
const RULE_ACTIONS = ['DeleteRule', 'DisableRule', 'EnableRule', 'PutRule', 'PutTargets', 'RemoveTargets'];
const RULE_READS = ['DescribeRule', 'ListRuleNamesByTarget', 'ListRules', 'ListTargetsByRule'];

/** Where the sessions' files lie in the end. Amazon S3 Files asks for versions; they also undo what an agent did to a file. */
export class WorkspaceBucket extends Construct {
  readonly bucket: Bucket;
  /** Whom Amazon S3 Files acts as in the bucket. */
  readonly synchronizer: Role;

  constructor(scope: Construct, id: string, { key, retain }: WorkspaceBucketProps) {
    super(scope, id);
    this.bucket = new Bucket(this, 'Bucket', {
      versioned: true,
      encryption: BucketEncryption.KMS,
      encryptionKey: key,
      bucketKeyEnabled: true,
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      enforceSSL: true,
      minimumTLSVersion: 1.2,
      lifecycleRules: [
        {
          id: 'OldVersions',
          noncurrentVersionExpiration: Duration.days(OLD_VERSIONS_DAYS),
          expiredObjectDeleteMarker: true,
          abortIncompleteMultipartUploadAfter: Duration.days(7),
        },
      ],
      removalPolicy: retain ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
    acknowledge(this.bucket, {
      'AwsSolutions-S1':
        'Only the file system reads and writes it; CloudTrail data events show more than server access logs where they are wanted',
    });
    this.synchronizer = synchronizerOf(this, this.bucket, key);
  }
}

function synchronizerOf(scope: Construct, bucket: Bucket, key: IKey): Role {
  const stack = Stack.of(scope);
  const ofUs = {
    StringEquals: { 'aws:SourceAccount': stack.account },
    ArnLike: { 'aws:SourceArn': `arn:${Aws.PARTITION}:s3files:${stack.region}:${stack.account}:file-system/*` },
  };
  const role = new Role(scope, 'Synchronizer', {
    assumedBy: new ServicePrincipal('elasticfilesystem.amazonaws.com', { conditions: ofUs }),
    description: 'Amazon S3 Files keeps bucket and file system the same',
  });
  const here = { StringEquals: { 'aws:ResourceAccount': stack.account } };
  const viaS3 = { StringEquals: { 'kms:ViaService': `s3.${stack.region}.${Aws.URL_SUFFIX}` } };
  const rule = (name: string) => `arn:${Aws.PARTITION}:events:${stack.region}:${stack.account}:rule/${name}`;
  grant(role, [
    allow({ sid: 'Bucket', actions: s3(BUCKET_ACTIONS), resources: [bucket.bucketArn], conditions: here }),
    allow(
      { sid: 'Objects', actions: s3(OBJECT_ACTIONS), resources: [bucket.arnForObjects('*')], conditions: here },
      'The objects of this bucket are the files, which agents name',
    ),
    allow({ sid: 'BucketKey', actions: KEY_ACTIONS.map((action) => `kms:${action}`), resources: [key.keyArn], conditions: viaS3 }),
    allow(
      {
        sid: 'OwnRules',
        actions: RULE_ACTIONS.map((action) => `events:${action}`),
        resources: [rule('DO-NOT-DELETE-S3-Files*')],
        conditions: { StringEquals: { 'events:ManagedBy': 'elasticfilesystem.amazonaws.com' } },
      },
      'Amazon S3 Files names its rules itself; the condition allows none that it does not manage',
    ),
    allow(
      { sid: 'ReadRules', actions: RULE_READS.map((action) => `events:${action}`), resources: [rule('*')] },
      'Amazon S3 Files looks for its own rules among all of the account; reading a rule shows no data',
    ),
  ]);
  return role;
}

const s3 = (actions: readonly string[]): string[] => actions.map((action) => `s3:${action}`);
