import { describe, expect, it } from 'vitest';
import { confirmChecker } from '../../../../../lib/core/guard/checkers/confirm.ts';
import { flowChecker } from '../../../../../lib/core/guard/checkers/flow.ts';
import type { ApprovalContext } from '../../../../../lib/core/guard/decision.ts';
import { noUsage } from '../../../../../lib/core/loop/usage.ts';
import { appConstraints, toolContext } from '../../../../support/guard.ts';

async function flow(mode: 'off' | 'confirm' | 'deny' | undefined, seen: string[], effectTags: string[]): Promise<string> {
  const checker = flowChecker({ constraints: appConstraints(mode ? { flow: mode } : {}), confirmDefault: undefined });
  checker.restore?.({ seen, passed: {} });
  return (await checker.check('tool_call', toolContext({ name: 'web_fetch', effectTags })))[0];
}

describe('flow', () => {
  it.each(['fs.read', 'memory.read', 'code.exec'])('asks before sending data out once the run had %s', async (tag) => {
    expect(await flow(undefined, [tag], ['net.read'])).toBe('CONFIRM');
    expect(await flow('deny', [tag], ['net.read'])).toBe('DENY');
    expect(await flow('off', [tag], ['net.read'])).toBe('ALLOW');
  });

  it('does not mind calls that send nothing out, or that come before any reading', async () => {
    expect(await flow('deny', ['fs.read'], ['fs.write'])).toBe('ALLOW');
    expect(await flow('deny', [], ['net.read'])).toBe('ALLOW');
  });
});

async function confirm(approval: ApprovalContext, confirmDefault?: 'allow' | 'deny'): Promise<string> {
  const checker = confirmChecker({ constraints: appConstraints({}), confirmDefault });
  return (await checker.check('tool_call', toolContext({ name: 'a', hash: 'this' }, { approval })))[0];
}

describe('confirm', () => {
  it('lets pass what nobody need confirm', async () => {
    expect(await confirm({ needsConfirm: false })).toBe('ALLOW');
  });

  it('asks, and says so in the approval', async () => {
    const approval: ApprovalContext = { needsConfirm: true };
    expect(await confirm(approval)).toBe('PENDING');
    expect(approval).toMatchObject({ needsConfirm: true, progressState: 'pending', result: 'pending' });
  });

  it('accepts an approval of this very call only, and clears the mark', async () => {
    const approval: ApprovalContext = { needsConfirm: true, progressState: 'approved', approvedHash: 'this' };
    expect(await confirm(approval)).toBe('ALLOW');
    expect(approval.needsConfirm).toBe(false);
    expect(await confirm({ needsConfirm: true, progressState: 'approved', approvedHash: 'another' })).toBe('PENDING');
    expect(await confirm({ needsConfirm: true, progressState: 'approved' })).toBe('PENDING');
    expect(await confirm({ needsConfirm: true, approvedHash: 'this' })).toBe('PENDING');
  });

  it('lets confirm_default decide instead of a person', async () => {
    expect(await confirm({ needsConfirm: true }, 'allow')).toBe('ALLOW');
    expect(await confirm({ needsConfirm: true }, 'deny')).toBe('DENY');
  });

  it('denies an LLM call that would need a person', async () => {
    const checker = confirmChecker({ constraints: appConstraints({}), confirmDefault: undefined });
    const context = { action: 'llm_call' as const, usage: noUsage, metadata: {}, approval: { needsConfirm: true } };
    expect((await checker.check('llm_call', context))[0]).toBe('DENY');
  });
});
