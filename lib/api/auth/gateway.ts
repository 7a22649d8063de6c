import * as z from 'zod';
import { tenantSchema } from '../../core/ids.ts';
import { everyPermission, type Permission, type Principal, permissions } from '../principal.ts';
import { HttpError } from '../problem.ts';
import { unauthorized } from './bearer.ts';
import type { AuthStrategy } from './strategy.ts';

/** What API Gateway's HTTP API says of the caller (payload format 2.0). It is the gateway's word, no header of the request. */
const iamContextSchema = z.object({
  requestContext: z.object({
    authorizer: z.object({
      iam: z.object({ accountId: z.string().regex(/^\d{12}$/), userArn: z.string().min(1), userId: z.string().min(1) }),
    }),
  }),
});

const jwtContextSchema = z.object({
  requestContext: z.object({ authorizer: z.object({ jwt: z.object({ claims: z.record(z.string(), z.unknown()) }) }) }),
});

export interface IamAuthOptions {
  /** One tenant for every caller (`auth.tenant`). @default a tenant of its own for each role or user */
  readonly tenant?: string | undefined;
}

/**
 * Callers signed by AWS Signature 4. The tenant is the configured one, else `aws-<account>-<roleId>`, the same for every
 * session of a role. Which routes a role may call is its IAM policy (`execute-api:Invoke` per route, docs/security.md),
 * checked by the gateway before us.
 */
export function iamAuth(options: IamAuthOptions = {}): AuthStrategy {
  return {
    admit() {},
    authenticate(_request, env) {
      const context = iamContextSchema.safeParse(env);
      if (!context.success) throw unauthorized();
      const { accountId, userArn, userId } = context.data.requestContext.authorizer.iam;
      const roleId = userId.split(':', 1)[0] ?? '';
      const tenant = options.tenant ?? tenantOf(`aws-${accountId}-${roleId}`, 'the caller');
      return { tenant, principal: userArn, permissions: everyPermission };
    },
    console: { signIn: 'signature' },
  };
}

export interface JwtAuthOptions {
  /** The claim that names the tenant (`auth.tenant_claim`). */
  readonly tenantClaim: string;
}

/** Callers with a token that the gateway's JWT authorizer has verified. Scopes `handrail/<permission>` give permissions. */
export function jwtAuth(options: JwtAuthOptions): AuthStrategy {
  return {
    admit() {},
    authenticate(_request, env) {
      const context = jwtContextSchema.safeParse(env);
      if (!context.success) throw unauthorized();
      const { claims } = context.data.requestContext.authorizer.jwt;
      const subject = z.string().min(1).safeParse(own(claims, 'sub'));
      if (!subject.success) throw unauthorized();
      const tenant = tenantOf(own(claims, options.tenantClaim), `claim ${options.tenantClaim}`);
      return { tenant, principal: `jwt:${subject.data}`, permissions: granted(claims) } satisfies Principal;
    },
    console: { signIn: 'bearer' },
  };
}

function tenantOf(value: unknown, source: string): string {
  const tenant = tenantSchema.safeParse(value);
  if (!tenant.success) throw new HttpError('FORBIDDEN', `${source} gives no valid tenant: 1 to 64 of A-Z a-z 0-9 _ -`);
  return tenant.data;
}

/** Providers write scopes as `scope` or `scp`, apart by spaces; the gateway writes lists as `[a b]`. */
function granted(claims: Record<string, unknown>): ReadonlySet<Permission> {
  const words = [own(claims, 'scope'), own(claims, 'scp')].flatMap((claim) =>
    typeof claim === 'string' ? claim.split(/[\s,[\]]+/) : Array.isArray(claim) ? claim : [],
  );
  return new Set(permissions.filter((permission) => words.includes(`handrail/${permission}`)));
}

function own(claims: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(claims, name) ? claims[name] : undefined;
}
