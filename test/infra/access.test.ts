import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { accessMatrix, WAYS_OUT } from '../support/access-matrix.ts';
import { withTables } from '../support/security-page.ts';
import { ofType, readable, synthesize } from '../support/stacks.ts';

const stacks = synthesize({ target: 'aws' });
const { agent, state } = stacks;
const matrix = accessMatrix(stacks);
const of = (who: string) => {
  const access = matrix.find((candidate) => candidate.who === who);
  if (access === undefined) throw new Error(`nobody is called ${who}; there are ${matrix.map((row) => row.who).join(', ')}`);
  return access;
};
const functions = matrix.filter(({ isFunction }) => isFunction);

describe('who reaches what, from the templates', () => {
  it('is told of every function', () => {
    expect(functions).toHaveLength(ofType(agent, 'AWS::Lambda::Function').length);
  });

  it('no function can both read files and reach the internet', () => {
    expect(functions.filter(({ files, bucket, network }) => (files !== '' || bucket !== '') && network === 'internet')).toEqual([]);
  });

  it('what reads files or runs code reaches no table, no model, and invokes nobody', () => {
    for (const who of ['tool-file', 'tool-code']) {
      expect(of(who)).toEqual({
        ...{ who, isFunction: true, files: 'read, write', network: 'isolated' },
        ...{ sessions: '', guard: '', memory: '', bucket: '', invokes: [], models: false },
      });
    }
  });

  it('what reaches the internet on behalf of a tool has no table, no files', () => {
    expect(of('tool-network')).toMatchObject({ sessions: '', guard: '', memory: '', files: '', bucket: '', invokes: [], models: false });
  });

  it('the memory function has its table and nothing else', () => {
    expect(of('tool-memory')).toMatchObject({
      sessions: '',
      guard: '',
      memory: 'read, write',
      files: '',
      bucket: '',
      invokes: [],
      models: false,
    });
  });

  it('only reason calls models, and no function of the loop invokes a tool but through the state machine', () => {
    expect(functions.filter(({ models }) => models).map(({ who }) => who)).toEqual(['reason']);
    expect(functions.flatMap(({ who, invokes }) => invokes.map((tool) => `${who} → ${tool}`))).toEqual(['api → tool-file']);
  });

  it('the state machine invokes the functions of its definition and no other', () => {
    const tools = functions.map(({ who }) => who).filter((who) => who.startsWith('tool-'));
    expect([...of('state machine').invokes].sort()).toEqual([...tools, 'reason', 'suspend'].sort());
  });

  it('only Amazon S3 Files touches the bucket', () => {
    expect(matrix.filter(({ bucket }) => bucket !== '').map(({ who }) => who)).toEqual(['Amazon S3 Files']);
  });

  it('is what docs/security.md says; else: npm run docs:security', () => {
    const page = readFileSync(new URL('../../docs/security.md', import.meta.url), 'utf8');
    expect(withTables(page)).toBe(page);
  });
});

describe('the network of files and code', () => {
  it('has no way out: no route, gateway, endpoint or peering', () => {
    expect(WAYS_OUT.flatMap((type) => [...ofType(agent, type), ...ofType(state, type)])).toEqual([]);
    for (const [, { Properties }] of ofType(agent, 'AWS::EC2::Subnet')) expect(Properties['MapPublicIpOnLaunch']).toBe(false);
  });

  it('lets functions talk to the file system by NFS, and to nothing else', () => {
    const groups = Object.fromEntries(
      ofType(agent, 'AWS::EC2::SecurityGroup').map(([id, { Properties }]) => [id.slice(0, -8), Properties]),
    );
    expect(Object.keys(groups).sort()).toEqual(['NetworkFunctions', 'WorkspaceStorage']);
    for (const properties of Object.values(groups)) expect(properties['SecurityGroupIngress']).toBeUndefined();
    // CDK's way to say "nothing": a rule that no packet matches. The other group's one rule, below, takes the place of AWS's own.
    expect(groups['WorkspaceStorage']?.['SecurityGroupEgress']).toMatchObject([{ CidrIp: '255.255.255.255/32', IpProtocol: 'icmp' }]);
    const rules = [...ofType(agent, 'AWS::EC2::SecurityGroupIngress'), ...ofType(agent, 'AWS::EC2::SecurityGroupEgress')];
    expect(
      rules
        .map(([, { Type, Properties }]) => `${Type} ${readable(Properties['GroupId']).replace(/^<|[0-9A-F]{8}\.GroupId>$/g, '')}`)
        .sort(),
    ).toEqual(['AWS::EC2::SecurityGroupEgress NetworkFunctions', 'AWS::EC2::SecurityGroupIngress WorkspaceStorage']);
    for (const [, { Properties }] of rules) {
      expect(Properties).toMatchObject({ IpProtocol: 'tcp', FromPort: 2049, ToPort: 2049 });
      expect(Properties).not.toHaveProperty('CidrIp');
    }
  });

  it('resolves the name of the file system and no other', () => {
    const lists = Object.fromEntries(
      ofType(agent, 'AWS::Route53Resolver::FirewallDomainList').map(([id, { Properties }]) => [id, Properties['Domains']]),
    );
    const [group] = ofType(agent, 'AWS::Route53Resolver::FirewallRuleGroup');
    const rules = group?.[1].Properties['FirewallRules'] as { Action: string; Priority: number; FirewallDomainListId: unknown }[];
    const inOrder = rules
      .toSorted((a, b) => a.Priority - b.Priority)
      .map(({ Action, FirewallDomainListId }) => {
        const domains = lists[readable(FirewallDomainListId).replace(/^<|\.Id>$/g, '')];
        return [Action, Array.isArray(domains) ? domains.map(readable) : []];
      });
    expect(inOrder).toEqual([
      ['ALLOW', ['*.s3files.<AWS::Region>.on.aws']],
      ['BLOCK', ['*']],
    ]);
    expect(ofType(agent, 'AWS::Route53Resolver::FirewallRuleGroupAssociation')).toHaveLength(1);
  });

  it('writes down what was refused', () => {
    expect(ofType(agent, 'AWS::EC2::FlowLog').map(([, { Properties }]) => Properties['TrafficType'])).toEqual(['REJECT']);
  });

  it('mounts the files in one place, with one user, and nothing reads around the mount', () => {
    const mounting = ofType(agent, 'AWS::Lambda::Function').filter(([, { Properties }]) => 'FileSystemConfigs' in Properties);
    expect(mounting.map(([, { Properties }]) => Properties['FunctionName']).sort()).toEqual(['handrail-tool-code', 'handrail-tool-file']);
    for (const [, { Properties }] of mounting)
      expect(Properties['FileSystemConfigs']).toMatchObject([
        { LocalMountPath: '/mnt/workspace', S3FilesConfig: { DirectS3Read: 'DISABLED' } },
      ]);
    expect(ofType(agent, 'AWS::S3Files::MountTarget')).toHaveLength(2);
    expect(ofType(agent, 'AWS::S3Files::AccessPoint').map(([, { Properties }]) => Properties)).toMatchObject([
      { PosixUser: { Uid: '1000', Gid: '1000' }, RootDirectory: { Path: '/workspaces', CreationPermissions: { Permissions: '0700' } } },
    ]);
    const [policy] = ofType(agent, 'AWS::S3Files::FileSystemPolicy');
    expect(JSON.stringify(policy?.[1].Properties)).toContain('s3files:AccessPointArn');
  });
});

describe('the bucket of the files', () => {
  it('keeps versions, is encrypted with our key, closed to the public and to plain HTTP, and stays', () => {
    const [bucket] = ofType(state, 'AWS::S3::Bucket');
    expect(bucket?.[1]).toMatchObject({
      DeletionPolicy: 'Retain',
      Properties: {
        VersioningConfiguration: { Status: 'Enabled' },
        PublicAccessBlockConfiguration: {
          BlockPublicAcls: true,
          BlockPublicPolicy: true,
          IgnorePublicAcls: true,
          RestrictPublicBuckets: true,
        },
        BucketEncryption: { ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: 'aws:kms' } }] },
      },
    });
    expect(JSON.stringify(ofType(state, 'AWS::S3::BucketPolicy'))).toContain('aws:SecureTransport');
  });
});

describe('who may invoke a tool function, by its own policy', () => {
  it('is the state machine', () => {
    const permissions = ofType(agent, 'AWS::Lambda::Permission').map(([, { Properties }]) => [
      readable(Properties['FunctionName']).replace(/^<(\w+?)Function[0-9A-F]{8}.*$/, '$1'),
      readable(Properties['Principal']).replace(/[0-9A-F]{8}(?=\.Arn)/, ''),
    ]);
    const tools = permissions.filter(([name]) => name?.startsWith('Tools'));
    expect(new Set(tools.map(([, principal]) => principal))).toEqual(new Set(['<LoopRole.Arn>']));
    expect(tools).toHaveLength(functions.filter(({ who }) => who.startsWith('tool-')).length);
  });
});

describe('without a network', () => {
  const none = synthesize({ network: 'none' });

  it('there are no files, no VPC, no bucket, and no function for files', () => {
    for (const { who, files, bucket, network } of accessMatrix(none).filter(({ isFunction }) => isFunction))
      expect([who, files, bucket, network]).toEqual([who, '', '', 'internet']);
    expect([...ofType(none.agent, 'AWS::EC2::VPC'), ...ofType(none.state, 'AWS::S3::Bucket')]).toEqual([]);
    expect(accessMatrix(none).map(({ who }) => who)).not.toContain('tool-file');
  });

  it('the code function is told that there are no files', () => {
    const code = ofType(none.agent, 'AWS::Lambda::Function').find(
      ([, { Properties }]) => Properties['FunctionName'] === 'handrail-tool-code',
    );
    expect(code?.[1].Properties['Environment']).toMatchObject({ Variables: { HANDRAIL_WORKSPACE: 'none' } });
  });

  it('synthesis says what is lost', () => {
    const said = none.app
      .synth()
      .getStackByName('handrail-agent')
      .messages.map(({ entry }) => String(entry.data));
    expect(said.join('\n')).toMatch(/read_file, write_file, list_directory[\s\S]*what it writes is gone/);
  });
});
