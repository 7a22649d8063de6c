import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toolPolicyOf } from '../../lib/core/guard/checkers/tool-policy.ts';
import {
  type Constraints,
  flowModes,
  type Layer,
  type MergedConstraints,
  mergeConstraints,
  toolPolicies,
} from '../../lib/core/guard/constraints.ts';
import { withLivePolicy } from '../../lib/core/guard/policy.ts';
import { preflight } from '../../lib/core/guard/preflight.ts';
import type { JsonObject } from '../../lib/core/json.ts';
import { preflightCall, preflightInput } from '../support/guard.ts';

const TOOLS = ['read_file', 'write_file', 'web_fetch', 'execute_shell'];
const policy = fc.constantFrom(...toolPolicies);
const when = fc.constantFrom<JsonObject>({}, { required: ['path'] }, { properties: { path: { const: 'a' } } }, { not: {} });
const rule = fc.oneof(policy, fc.record({ policy, when }));
const key = fc.constantFrom(...TOOLS, 'cat', 'sh', '*', '*_file', 'read_*', 'w*', 'execute_?hell');
const limit = fc.option(fc.integer({ min: 0, max: 5 }), { nil: null });
const guard = fc.record(
  {
    tool_policy: fc.dictionary(key, fc.oneof(rule, fc.array(rule, { minLength: 1, maxLength: 3 })), { maxKeys: 4 }),
    default_policy: policy,
    max_tool_calls: limit,
    budget: fc.record({ total_tokens: limit, cost_usd: limit }, { requiredKeys: [] }),
    flow: fc.constantFrom(...flowModes),
  },
  { requiredKeys: [] },
);
const constraints: fc.Arbitrary<Constraints> = fc.record(
  {
    guard,
    max_iterations: fc.integer({ min: 1, max: 60 }),
    timeout: fc.integer({ min: 1, max: 9_000_000 }),
    max_messages: fc.integer({ min: 1, max: 200 }),
    history_limit: fc.integer({ min: 0, max: 50 }),
    execution: fc.record(
      {
        network: fc.constantFrom<'none' | boolean>(true, false, 'none'),
        timeout_s: fc.option(fc.integer({ min: 1, max: 200 }), { nil: null }),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
);
const tightening = fc.record({ layer: fc.constantFrom<Layer>('agent', 'run', 'skill'), constraints });
const layers = fc
  .tuple(fc.option(constraints, { nil: undefined }), fc.array(tightening, { maxLength: 3 }))
  .map(([app, rest]) => [...(app ? [{ layer: 'app' as const, constraints: app }] : []), ...rest]);
const call = fc.record({ name: fc.constantFrom(...TOOLS), path: fc.constantFrom(undefined, 'a', 'b') });

const aliasesOf = (name: string): string[] => (name === 'read_file' ? ['cat'] : name === 'execute_shell' ? ['sh'] : []);
const strictness = (merged: MergedConstraints, name: string, args: JsonObject): number =>
  toolPolicies.indexOf(toolPolicyOf(merged.guard.tool_policy, { name, aliases: aliasesOf(name) }, args).policy);
const atMost = (tighter: number | null, wider: number | null): boolean => wider === null || (tighter !== null && tighter <= wider);

describe('constraints only tighten', () => {
  it('adding a layer never allows what was not allowed', () => {
    fc.assert(
      fc.property(layers, tightening, fc.nat(3), call, (given, added, place, { name, path }) => {
        const before = mergeConstraints(given);
        const at = Math.min(given.length, (given[0]?.layer === 'app' ? 1 : 0) + place);
        const after = mergeConstraints([...given.slice(0, at), added, ...given.slice(at)]);
        const args: JsonObject = path === undefined ? {} : { path };
        expect(strictness(after, name, args)).toBeGreaterThanOrEqual(strictness(before, name, args));
        expect(after.max_iterations).toBeLessThanOrEqual(before.max_iterations);
        expect(after.timeout).toBeLessThanOrEqual(before.timeout);
        expect(before.execution.network || !after.execution.network).toBe(true);
        expect(atMost(after.execution.timeout_s, before.execution.timeout_s)).toBe(true);
        expect(atMost(after.guard.max_tool_calls, before.guard.max_tool_calls)).toBe(true);
        for (const dimension of ['total_tokens', 'prompt_tokens', 'completion_tokens', 'cost_usd'] as const)
          expect(atMost(after.guard.budget[dimension], before.guard.budget[dimension])).toBe(true);
        expect(flowModes.indexOf(after.guard.flow)).toBeGreaterThanOrEqual(flowModes.indexOf(before.guard.flow));
      }),
      { numRuns: 500 },
    );
  });

  it('a live policy never allows what was not allowed, whatever the order', () => {
    fc.assert(
      fc.property(layers, fc.array(guard, { maxLength: 2 }), call, (given, policies, { name, path }) => {
        const before = mergeConstraints(given);
        const full = policies.map((own) => ({ v: 1 as const, version: 1, guard: own, updatedAt: 0, updatedBy: 'x' }));
        const after = withLivePolicy(before, full);
        const args: JsonObject = path === undefined ? {} : { path };
        expect(strictness(after, name, args)).toBeGreaterThanOrEqual(strictness(before, name, args));
        expect(strictness(withLivePolicy(before, full.toReversed()), name, args)).toBe(strictness(after, name, args));
        expect(withLivePolicy(before, full.toReversed()).guard.budget).toEqual(after.guard.budget);
        expect(atMost(after.guard.max_tool_calls, before.guard.max_tool_calls)).toBe(true);
        for (const dimension of ['total_tokens', 'prompt_tokens', 'completion_tokens', 'cost_usd'] as const)
          expect(atMost(after.guard.budget[dimension], before.guard.budget[dimension])).toBe(true);
        expect(flowModes.indexOf(after.guard.flow)).toBeGreaterThanOrEqual(flowModes.indexOf(before.guard.flow));
      }),
      { numRuns: 300 },
    );
  });

  it('a batch never gets further under one layer more', async () => {
    const batch = fc.array(call, { minLength: 1, maxLength: 5 });
    const rank = { deny: 0, ask: 1, allow: 2 } as const;
    await fc.assert(
      fc.asyncProperty(layers, tightening, batch, async (given, added, calls) => {
        const open = calls.map(({ name, path }, index) =>
          preflightCall(index, name, {
            arguments: path === undefined ? {} : { path },
            aliases: aliasesOf(name),
            effectTags: name === 'web_fetch' ? ['net.read'] : [],
          }),
        );
        const state = { flow: { seen: ['fs.read'], passed: {} } };
        // Per call, a denial may leave room under the rate limit for a later call; per batch it denies them all.
        const before = await preflight(preflightInput(open, { constraints: mergeConstraints(given), state }));
        const after = await preflight(preflightInput(open, { constraints: mergeConstraints([...given, added]), state }));
        for (const { callId } of open)
          expect(rank[after.verdicts.get(callId)?.verdict ?? 'allow']).toBeLessThanOrEqual(
            rank[before.verdicts.get(callId)?.verdict ?? 'deny'],
          );
      }),
      { numRuns: 300 },
    );
  });
});
