import { CfnFirewallDomainList, CfnFirewallRuleGroup, CfnFirewallRuleGroupAssociation } from 'aws-cdk-lib/aws-route53resolver';
import { Construct } from 'constructs';

export interface DnsFirewallProps {
  /** Prefix of the names. */
  readonly name: string;
  readonly vpcId: string;
  /** Names that resolve, `*.` for all below. Every other query is answered "no such name". */
  readonly allowed: readonly string[];
}

/** Rules are tried in this order. */
const PRIORITY = { allow: 100, block: 200, group: 101 };

/**
 * The resolver of a VPC answers every name of the internet, route or no route, and a query can carry data out. Here it
 * answers the allowed names only. When the firewall itself fails, queries fail too: that is the service's default.
 */
export class DnsFirewall extends Construct {
  constructor(scope: Construct, id: string, { name, vpcId, allowed }: DnsFirewallProps) {
    super(scope, id);
    const allow = new CfnFirewallDomainList(this, 'Allowed', { name: `${name}-allowed`, domains: [...allowed] });
    const all = new CfnFirewallDomainList(this, 'Everything', { name: `${name}-everything`, domains: ['*'] });
    const rules = new CfnFirewallRuleGroup(this, 'Rules', {
      name,
      firewallRules: [
        { action: 'ALLOW', priority: PRIORITY.allow, firewallDomainListId: allow.attrId },
        { action: 'BLOCK', blockResponse: 'NXDOMAIN', priority: PRIORITY.block, firewallDomainListId: all.attrId },
      ],
    });
    new CfnFirewallRuleGroupAssociation(this, 'Association', {
      name,
      vpcId,
      firewallRuleGroupId: rules.attrId,
      priority: PRIORITY.group,
      mutationProtection: 'DISABLED',
    });
  }
}
