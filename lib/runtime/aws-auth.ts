import { bearerAuth } from '../api/auth/bearer.ts';
import { iamAuth, jwtAuth } from '../api/auth/gateway.ts';
import type { AuthStrategy } from '../api/auth/strategy.ts';
import { everyPermission } from '../api/principal.ts';
import type { Config } from '../core/config.ts';
import { apiAuth } from '../manifest.ts';

const TENANT_OF_EMULATOR = 'emulator';

interface DeployedAuth {
  readonly strategy: AuthStrategy;
  /** Whose callers may change the policy of all tenants; undefined = nobody. */
  readonly operatorTenant: string | undefined;
}

/** How a deployed API knows its callers. `secret`: what it was deployed with; read only where a secret is how. */
export function deployedAuth(target: 'aws' | 'emulator', auth: Config['auth'], secret: string): DeployedAuth {
  const operatorTenant = auth.operator_tenant;
  if (auth.mode === 'jwt') return { strategy: jwtAuth({ tenantClaim: auth.tenant_claim }), operatorTenant };
  if (apiAuth(target, auth) === 'iam') return { strategy: iamAuth({ tenant: auth.tenant }), operatorTenant };
  const owner = { tenant: TENANT_OF_EMULATOR, principal: 'emulator:owner', permissions: everyPermission };
  return { strategy: bearerAuth([{ secret, principal: owner }]), operatorTenant: TENANT_OF_EMULATOR };
}
