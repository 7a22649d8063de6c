import { SecurityGroup } from 'aws-cdk-lib/aws-ec2';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { CfnAccessPoint, CfnFileSystem, CfnFileSystemPolicy, CfnMountTarget } from 'aws-cdk-lib/aws-s3files';
import { Construct } from 'constructs';
import { WORKSPACE_MOUNT } from '../../lib/manifest.ts';
import type { Network } from './network.ts';
import type { WorkspaceBucket } from './workspace-bucket.ts';

export interface WorkspaceProps {
  readonly files: WorkspaceBucket;
  readonly key: IKey;
  readonly network: Network;
}

/** All files belong to this user on the file system, whoever Lambda runs the functions as. */
const OWNER = '1000';

/**
 * The sessions' files as a file system: Amazon S3 Files on the versioned bucket, reached inside the network through one
 * access point. Functions have no right to the bucket and no route to S3: they see the mount and nothing else.
 */
export class Workspace extends Construct {
  /** What a function mounts. Brings the rights to do so, and opens the way between the two security groups. */
  readonly mount: lambda.FileSystem;
  readonly fileSystem: CfnFileSystem;
  readonly accessPoint: CfnAccessPoint;

  constructor(scope: Construct, id: string, { files, key, network }: WorkspaceProps) {
    super(scope, id);
    const { bucket, synchronizer } = files;
    this.fileSystem = new CfnFileSystem(this, 'FileSystem', {
      bucket: bucket.bucketArn,
      roleArn: synchronizer.roleArn,
      kmsKeyId: key.keyArn,
    });
    const storage = new SecurityGroup(this, 'Storage', { vpc: network.vpc, description: 'The file system', allowAllOutbound: false });
    network.vpc.selectSubnets(network.subnets).subnetIds.forEach((subnetId, zone) => {
      const target = { fileSystemId: this.fileSystem.attrFileSystemId, subnetId, securityGroups: [storage.securityGroupId] };
      new CfnMountTarget(this, `Target${zone}`, target);
    });
    this.accessPoint = new CfnAccessPoint(this, 'AccessPoint', {
      fileSystemId: this.fileSystem.attrFileSystemId,
      posixUser: { uid: OWNER, gid: OWNER },
      rootDirectory: { path: '/workspaces', creationPermissions: { ownerUid: OWNER, ownerGid: OWNER, permissions: '0700' } },
    });
    this.onlyThroughAccessPoint();
    // Direct reads would need a route to S3 and a right to the bucket; everything goes through the mount instead.
    this.mount = lambda.FileSystem.fromS3FilesAccessPoint(this.accessPoint, WORKSPACE_MOUNT, {
      directS3Read: lambda.DirectS3Read.disabled(),
    });
  }

  /** A role that may mount the file system may mount it here only, below the directory and as the user of the access point. */
  private onlyThroughAccessPoint(): void {
    new CfnFileSystemPolicy(this, 'Policy', {
      fileSystemId: this.fileSystem.attrFileSystemId,
      policy: {
        Version: '2012-10-17',
        Statement: [
          {
            Sid: 'OnlyThroughTheAccessPoint',
            Effect: 'Deny',
            Principal: { AWS: '*' },
            Action: ['s3files:ClientMount', 's3files:ClientWrite', 's3files:ClientRootAccess'],
            Resource: this.fileSystem.attrFileSystemArn,
            Condition: { StringNotEquals: { 's3files:AccessPointArn': this.accessPoint.attrAccessPointArn } },
          },
        ],
      },
    });
  }
}
