import { describe, expect, it } from 'vitest';
import { changePolicy, type PolicyChange, type PolicyDeps } from '../../../../lib/core/guard/change-policy.ts';
import { DEPLOYMENT } from '../../../../lib/core/guard/policy.ts';
import { memoryStores } from '../../../support/memory-stores.ts';
import { TestClock } from '../../../support/time.ts';

function desk({ operatorTenant }: Pick<PolicyDeps, 'operatorTenant'> = { operatorTenant: 'ops' }) {
  const stores = memoryStores();
  const clock = new TestClock();
  const deps: PolicyDeps = { guard: stores.guard, clock, operatorTenant };
  const change = (rest: Partial<PolicyChange> = {}) =>
    changePolicy(deps, {
      tenant: 't1',
      principal: 'ann',
      scope: 'tenant',
      version: 0,
      guard: { tool_policy: { write_file: 'deny' } },
      ...rest,
    });
  return { stores, clock, change };
}

describe('changing the live policy', () => {
  it('writes the next version with who and when', async () => {
    const { stores, clock, change } = desk();
    expect(await change()).toEqual({
      v: 1,
      version: 1,
      guard: { tool_policy: { write_file: 'deny' } },
      updatedAt: clock.now(),
      updatedBy: 'ann',
    });
    expect(await stores.guard.getPolicy('t1')).toMatchObject({ version: 1, updatedBy: 'ann' });
    expect(await stores.guard.getPolicy('t2')).toBeUndefined();
  });

  it('keeps every version that was replaced, so that the trail has no gap', async () => {
    const { stores, change } = desk();
    await change();
    await change({ version: 1, principal: 'bob', guard: { flow: 'deny' } });
    await change({ version: 2, principal: 'cleo', guard: {} });
    const kept = await stores.guard.listKeptPolicies('t1', { limit: 10 });
    expect(kept.items.map(({ version, updatedBy }) => [version, updatedBy])).toEqual([
      [2, 'bob'],
      [1, 'ann'],
    ]);
    expect(await stores.guard.getPolicy('t1')).toMatchObject({ version: 3, updatedBy: 'cleo', guard: {} });
  });

  it('refuses a writer who has not seen what stands, and tells the version', async () => {
    const { change } = desk();
    await change();
    await expect(change({ principal: 'bob' })).rejects.toMatchObject({ code: 'CONFLICT', extra: { version: 1 } });
    await expect(change({ version: 7 })).rejects.toMatchObject({ code: 'CONFLICT', extra: { version: 1 } });
  });

  it('lets one of two writers win who saw the same version', async () => {
    const { stores, change } = desk();
    const outcomes = await Promise.allSettled([change(), change({ principal: 'bob' })]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await stores.guard.getPolicy('t1')).toMatchObject({ version: 1 });
  });

  it('of the deployment is for the tenant of the operator alone', async () => {
    const { stores, change } = desk();
    await expect(change({ scope: 'deployment' })).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await change({ scope: 'deployment', tenant: 'ops' });
    expect(await stores.guard.getPolicy(DEPLOYMENT)).toMatchObject({ version: 1 });
    const nobody = desk({ operatorTenant: undefined });
    await expect(nobody.change({ scope: 'deployment', tenant: 'ops' })).rejects.toMatchObject({ code: 'FORBIDDEN' });
  });

  it('refuses one that is larger than every step should read', async () => {
    const { change } = desk();
    const rules = Object.fromEntries(Array.from({ length: 2_000 }, (_, n) => [`tool_number_${n}`, 'deny' as const]));
    await expect(change({ guard: { tool_policy: rules } })).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
  });
});
