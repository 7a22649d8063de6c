import { describe, expect, it } from 'vitest';
import type { Config } from '../../../lib/core/config.ts';
import { deployedAuth } from '../../../lib/runtime/aws-auth.ts';

const SECRET = 'a-secret-of-enough-characters';
const jwt = {
  mode: 'jwt',
  issuer: 'https://issuer.example',
  audience: ['us'],
  tenant_claim: 'org',
  operator_tenant: 'ops',
} satisfies Config['auth'];
const iam = { mode: 'iam', operator_tenant: 'ops' } satisfies Config['auth'];
const request = new Request('http://handrail.example/runs', { headers: { authorization: `Bearer ${SECRET}` } });
const claims = { requestContext: { authorizer: { jwt: { claims: { sub: 'ada', org: 'ours', scope: 'handrail/read' } } } } };

describe('callers of a deployed API', () => {
  it('show the secret on an emulator, whose owner is its operator', () => {
    const { strategy, operatorTenant } = deployedAuth('emulator', iam, SECRET);
    expect(strategy.authenticate(request, {})).toMatchObject({ tenant: 'emulator', principal: 'emulator:owner' });
    expect(operatorTenant).toBe('emulator');
  });

  it.each(['aws', 'emulator'] as const)(
    'show a token on %s where the configuration names an issuer; the secret opens nothing',
    (target) => {
      const { strategy, operatorTenant } = deployedAuth(target, jwt, SECRET);
      expect(strategy.authenticate(request, claims)).toMatchObject({ tenant: 'ours', principal: 'jwt:ada' });
      expect(() => strategy.authenticate(request, {})).toThrow(expect.objectContaining({ code: 'UNAUTHORIZED' }));
      expect(operatorTenant).toBe('ops');
    },
  );

  it('are of the configured tenant, whatever role they have', () => {
    const { strategy } = deployedAuth('aws', { mode: 'iam', tenant: 'team' }, '');
    const role = { accountId: '123456789012', userArn: 'arn:aws:sts::123456789012:assumed-role/dev/ann', userId: 'AROADEV:ann' };
    const env = { requestContext: { authorizer: { iam: role } } };
    expect(strategy.authenticate(request, env)).toMatchObject({ tenant: 'team', principal: role.userArn });
  });

  it('sign their requests in AWS otherwise; the secret opens nothing', () => {
    const { strategy, operatorTenant } = deployedAuth('aws', iam, SECRET);
    expect(() => strategy.authenticate(request, {})).toThrow(expect.objectContaining({ code: 'UNAUTHORIZED' }));
    expect(operatorTenant).toBe('ops');
  });
});
