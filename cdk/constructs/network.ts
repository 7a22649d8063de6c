import { Stack } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import { Construct } from 'constructs';
import type { Deployment } from './deployment.ts';
import { DnsFirewall } from './dns-firewall.ts';
import { logGroupOf } from './log-group.ts';

export type NetworkProps = Pick<Deployment, 'key' | 'settings'>;

/** Nothing connects to it, so it may be the same in every account. Room for two subnets of 128 addresses. */
const ADDRESSES = '10.64.0.0/24';
/** Each function has its interfaces in both zones, so that one may fail. */
export const ZONES = 2;

/**
 * Where files are read and code is run: subnets in two zones with no route but to each other. There is no internet
 * gateway, no NAT, no endpoint and no peering, and the only name that resolves is the file system's. Traffic that is
 * refused is logged.
 */
export class Network extends Construct {
  readonly vpc: ec2.IVpc;
  readonly subnets: ec2.SubnetSelection = { subnetType: ec2.SubnetType.PRIVATE_ISOLATED };
  /** Of the functions. Nothing may come in; out goes only what another construct allows. */
  readonly securityGroup: ec2.SecurityGroup;

  constructor(scope: Construct, id: string, props: NetworkProps) {
    super(scope, id);
    const vpc = new ec2.Vpc(this, 'Vpc', {
      ipAddresses: ec2.IpAddresses.cidr(ADDRESSES),
      maxAzs: ZONES,
      subnetConfiguration: [{ name: 'Isolated', subnetType: ec2.SubnetType.PRIVATE_ISOLATED, cidrMask: 25 }],
      natGateways: 0,
      createInternetGateway: false,
      // The group is in no use; emptying it would need a function of CDK's with rights to change any group.
      restrictDefaultSecurityGroup: false,
    });
    // CDK's own classes do not fit their interfaces under `exactOptionalPropertyTypes`.
    this.vpc = vpc as ec2.IVpc;
    this.securityGroup = new ec2.SecurityGroup(this, 'Functions', {
      vpc: this.vpc,
      description: 'Functions that read files or run code',
      allowAllOutbound: false,
    });
    this.logRefused(props);
    new DnsFirewall(this, 'Dns', { name: props.settings.name, vpcId: this.vpc.vpcId, allowed: [fileSystemNames(this)] });
  }

  private logRefused(props: NetworkProps): void {
    this.vpc.addFlowLog('Refused', {
      destination: ec2.FlowLogDestination.toCloudWatchLogs(logGroupOf(this, 'Logs', props, `/aws/vpc/${props.settings.name}`)),
      trafficType: ec2.FlowLogTrafficType.REJECT,
    });
  }
}

/** Mount targets of Amazon S3 Files have names such as `<zone>.<file system>.s3files.<region>.on.aws`. */
function fileSystemNames(scope: Construct): string {
  return `*.s3files.${Stack.of(scope).region}.on.aws`;
}
