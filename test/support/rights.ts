import * as z from 'zod';
import { ofType, readable, type SynthesizedStacks } from './stacks.ts';

type Template = SynthesizedStacks['agent'];

/** One action on one resource, as a role's policy has it. */
export interface Right {
  /** Logical id of the role, without CDK's hash. */
  readonly role: string;
  readonly effect: 'Allow' | 'Deny';
  readonly action: string;
  readonly resource: string;
  /** JSON; `{}` = none. */
  readonly condition: string;
}

const listSchema = z.union([z.string(), z.array(z.string())]).transform((value) => [value].flat());
const statementSchema = z.strictObject({
  Sid: z.string().optional(),
  Effect: z.enum(['Allow', 'Deny']),
  Action: listSchema,
  Resource: z.unknown().transform((value) => (Array.isArray(value) ? value : [value]).map(readable)),
  Condition: z.unknown().optional(),
});
const policySchema = z.object({ PolicyDocument: z.object({ Statement: z.array(statementSchema) }), Roles: z.array(z.unknown()).length(1) });

/** Every right of every role in a template. A statement of a form that is not known fails the parse: none is overlooked. */
export function rightsIn(template: Template): Right[] {
  const inline = ofType(template, 'AWS::IAM::Role').filter(
    ([, { Properties }]) => 'Policies' in Properties || 'ManagedPolicyArns' in Properties,
  );
  if (inline.length > 0) throw new Error(`roles with policies of their own: ${inline.map(([id]) => id).join(', ')}`);
  return ofType(template, 'AWS::IAM::Policy').flatMap(([, { Properties }]) => {
    const policy = policySchema.parse(Properties);
    const role = roleName(readable(policy.Roles[0]));
    return policy.PolicyDocument.Statement.flatMap(({ Effect, Action, Resource, Condition }) =>
      Action.flatMap((action) =>
        Resource.map((resource) => ({
          role,
          effect: Effect,
          action,
          resource: short(resource),
          condition: JSON.stringify(Condition ?? {}),
        })),
      ),
    );
  });
}

/** `<ToolsfileRoleDA62B623>` or `<ToolsfileRoleDA62B623.Arn>` → `Toolsfile`. */
export function roleName(reference: string): string {
  return reference.replace(/^<|(?:\.Arn)?>$/g, '').replace(/(?:Handler)?(?:IAM)?Role[0-9A-F]{8}$|[0-9A-F]{8}$/, '');
}

function short(resource: string): string {
  return resource
    .replace(/^arn:<AWS::Partition>:/, '')
    .replaceAll('<AWS::Region>:<AWS::AccountId>', '…')
    .replace(/<[^>]*>/g, (reference) => reference.replace(/[0-9A-F]{8}(?=[A-Z.>]|$)/g, ''));
}
