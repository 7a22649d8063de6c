import * as z from 'zod';
import { type Right, rightsIn, roleName } from './rights.ts';
import { ofType, readable, type SynthesizedStacks } from './stacks.ts';

/** What one role reaches, read from the templates alone. */
export interface Access {
  /** Function as in the manifest, or what the role is of. */
  readonly who: string;
  readonly isFunction: boolean;
  /** By table: `read`, `write`, both, or nothing. */
  readonly sessions: string;
  readonly guard: string;
  readonly memory: string;
  /** The bucket behind the files, by S3's own API. */
  readonly bucket: string;
  /** The files, by the mount. */
  readonly files: string;
  readonly network: 'internet' | 'isolated' | 'not a function';
  readonly invokes: readonly string[];
  readonly models: boolean;
}

/** What would lead out of a subnet. None of these may be in a template with isolated functions. */
export const WAYS_OUT = [
  'AWS::EC2::Route',
  'AWS::EC2::InternetGateway',
  'AWS::EC2::EgressOnlyInternetGateway',
  'AWS::EC2::NatGateway',
  'AWS::EC2::VPCGatewayAttachment',
  'AWS::EC2::VPCEndpoint',
  'AWS::EC2::VPCPeeringConnection',
  'AWS::EC2::TransitGatewayAttachment',
  'AWS::EC2::TransitGatewayVpcAttachment',
] as const;

const functionSchema = z.object({
  FunctionName: z.string(),
  Role: z.unknown(),
  VpcConfig: z.unknown().optional(),
  FileSystemConfigs: z.array(z.unknown()).default([]),
});

/** Who reaches what: every role of both stacks, functions first. `name` is the deployment's. */
export function accessMatrix({ agent, state }: SynthesizedStacks, name = 'handrail'): Access[] {
  const rights = [...rightsIn(agent), ...rightsIn(state)].filter(({ effect }) => effect === 'Allow');
  const waysOut = WAYS_OUT.flatMap((type) => ofType(agent, type));
  const functions = ofType(agent, 'AWS::Lambda::Function').map(([, { Properties }]) => functionSchema.parse(Properties));
  const roleOf = new Map(functions.map((fn) => [roleName(readable(fn.Role)), fn]));
  const roles = [...new Set(rights.map(({ role }) => role))];
  const accesses = roles.map((role): Access => {
    const fn = roleOf.get(role);
    const own = rights.filter((right) => right.role === role);
    return {
      who: fn?.FunctionName.slice(name.length + 1) ?? OTHERS[role] ?? role,
      isFunction: fn !== undefined,
      ...tablesOf(own),
      bucket: kinds(own.filter(({ action }) => action.startsWith('s3:'))),
      files: fn === undefined || fn.FileSystemConfigs.length === 0 ? '' : kinds(own.filter(({ action }) => action.startsWith('s3files:'))),
      network: fn === undefined ? 'not a function' : fn.VpcConfig !== undefined && waysOut.length === 0 ? 'isolated' : 'internet',
      invokes: own
        .filter(({ action }) => action === 'lambda:InvokeFunction')
        .map(({ resource }) => resource.replace(new RegExp(`^.*:${name}-`), '')),
      models: own.some(({ action }) => action.startsWith('bedrock:')),
    };
  });
  return accesses.sort((a, b) => Number(b.isFunction) - Number(a.isFunction) || (a.who < b.who ? -1 : 1));
}

/** Roles that no function has. */
const OTHERS: Readonly<Record<string, string>> = {
  Loop: 'state machine',
  WorkspaceSynchronizer: 'Amazon S3 Files',
  NetworkVpcRefused: 'VPC flow log',
};

function tablesOf(rights: readonly Right[]): Pick<Access, 'sessions' | 'guard' | 'memory'> {
  const on = (table: string) =>
    kinds(rights.filter(({ action, resource }) => action.startsWith('dynamodb:') && resource.includes(`Tables${table}`)));
  return { sessions: on('Sessions'), guard: on('Guard'), memory: on('Memory') };
}

const READS = /:(?:Get|BatchGet|Query|Scan|List|ClientMount)/;

function kinds(rights: readonly Right[]): string {
  const actions = rights.map(({ action }) => action);
  const kind = [actions.some((action) => READS.test(action)) && 'read', actions.some((action) => !READS.test(action)) && 'write'];
  return kind.filter((word) => word !== false).join(', ');
}

/** As a table in Markdown. */
export function asMarkdown(matrix: readonly Access[]): string {
  const header = ['who', 'sessions', 'guard', 'memory', 'files', 'bucket', 'network', 'models', 'may invoke'];
  const rows = matrix.map(({ who, sessions, guard, memory, files, bucket, network, models, invokes }) =>
    [who, sessions, guard, memory, files, bucket, network === 'not a function' ? '' : network, models ? 'yes' : '', invokes.join(', ')].map(
      (cell) => cell || '-',
    ),
  );
  return [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
