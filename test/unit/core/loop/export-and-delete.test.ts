import { describe, expect, it } from 'vitest';
import { deleteSession } from '../../../../lib/core/loop/delete-session.ts';
import { exportRun, wonCommits } from '../../../../lib/core/loop/export-run.ts';
import type { MessageWrite, RunStore } from '../../../../lib/core/ports/run-store.ts';
import { LoopRig } from '../../../support/loop-rig.ts';

const write = (prefix: string, prev?: string): MessageWrite => ({ prefix, prev, messages: [{ role: 'user', text: prefix }] });
const at = (step: number, attempt: string, frame = 'main'): string => `MSG#${frame}#000001#${String(step).padStart(6, '0')}#${attempt}#`;

const look = { calls: [['look', { at: 'x' }]] } as const;
const confirming = { constraints: { guard: { tool_policy: { look: 'confirm' } } } } as const;

const approve = (rig: LoopRig, runId: string) => rig.decide([{ approvalId: `${runId}-1.c1-0`, decision: 'approve' }]);

/** A run that asked a person and has ended. */
async function finished(rig: LoopRig, sessionId: string): Promise<void> {
  const { runId } = await rig.run('go', { sessionId });
  await approve(rig, runId);
  await rig.settle(runId);
}

/** Deletes as the API does; `erased` are the sessions whose files went. */
function deleting(rig: LoopRig) {
  const erased: string[] = [];
  const files = { erase: async ({ sessionId }: { sessionId: string }) => erased.push(sessionId) > 0 };
  return { erased, run: (sessionId: string) => deleteSession({ ...rig.deps, files }, { tenant: 't1', sessionId }) };
}

describe('what an export holds', () => {
  it('every message of the run, its events, and what people decided', async () => {
    const rig = new LoopRig({ turns: [look, 'done'], config: confirming });
    const { runId } = await rig.run('first');
    await approve(rig, runId);
    const run = await rig.settle(runId);
    const exported = await exportRun(rig.deps, run);
    expect(run.status).toBe('succeeded');
    expect(exported.messages.map(({ message }) => message.role)).toEqual(['user', 'assistant', 'observation', 'assistant']);
    expect(exported.events.at(-1)?.type).toBe('run.finished');
    expect(exported.suspensions).toMatchObject([{ approvals: { 'c1-0': { status: 'approved' } } }]);
  });

  it('no message of another run of the session', async () => {
    const rig = new LoopRig({ turns: ['one'] });
    await rig.run('first', { sessionId: 's-1' });
    const second = await rig.run('second', { sessionId: 's-1' });
    const { messages } = await exportRun(rig.deps, second);
    expect(messages.map(({ message }) => 'text' in message && message.text)).toEqual(['second', 'one']);
  });

  it('nothing of attempts that lost, and all of a child frame that has ended', () => {
    const [one, two, lost, three] = [at(1, 'a'), at(2, 'b'), at(2, 'x'), at(3, 'c')];
    const [child, childLost, childEnd] = [
      at(2, 'b', 'skill_runtime.s_c1-0'),
      at(3, 'y', 'skill_runtime.s_c1-0'),
      at(3, 'c', 'skill_runtime.s_c1-0'),
    ];
    const commits = [
      write(one),
      write(two, one),
      write(lost, one),
      write(three, two),
      write(child),
      write(childLost, child),
      write(childEnd, child),
    ];
    const run = { frames: [{ head: three }] } as unknown as Parameters<typeof wonCommits>[0];
    expect(wonCommits(run, commits).map(({ prefix }) => prefix)).toEqual([one, two, three, child, childEnd]);
  });

  it('a run that has not begun: nothing yet', async () => {
    const rig = new LoopRig({ turns: ['one'] });
    const run = await rig.start('go');
    expect(await exportRun(rig.deps, run)).toMatchObject({ messages: [], suspensions: [] });
  });
});

describe('deleting a session', () => {
  it('leaves nothing of it: runs, events, messages, suspensions, files; another session stays whole', async () => {
    const rig = new LoopRig({ turns: [look, 'done'], config: confirming });
    const { runId } = await rig.run('go', { sessionId: 's-1' });
    await approve(rig, runId);
    await rig.settle(runId);
    const other = await rig.run('go', { sessionId: 's-2' });
    const { run, erased } = deleting(rig);
    await run('s-1');
    const { state } = rig.stores;
    expect(erased).toEqual(['s-1']);
    expect([...state.sessions.keys()]).toEqual(['t1#s-2']);
    expect([...state.runs.values()].map(({ sessionId }) => sessionId)).toEqual(['s-2']);
    expect([...state.messages.keys()]).toEqual(['t1#s-2']);
    expect([...state.events.keys()].filter((key) => key.includes(runId))).toEqual([]);
    expect([...state.suspensions.values()].map((suspension) => suspension.runId)).toEqual([other.runId]);
  });

  it.each([1, 3])('leaves none of its %i youngest runs, which the list does not show yet, also when it is repeated', async (count) => {
    for (const broken of [undefined, 'readEvents', 'eraseRun']) {
      const rig = new LoopRig({ turns: [look, 'done'], config: confirming });
      await finished(rig, 's-1');
      const old = new Set(rig.stores.state.runs.keys());
      for (let n = 0; n < count; n++) await finished(rig, 's-1');
      // The index of the list lags behind the table.
      const listRuns: RunStore['listRuns'] = async (...query) => {
        const page = await rig.stores.runs.listRuns(...query);
        return { ...page, items: page.items.filter(({ tenant, runId }) => old.has(`${tenant}#${runId}`)) };
      };
      Object.assign(rig.deps, { runs: { ...rig.deps.runs, listRuns } });
      let failed = false;
      rig.faults = {
        ...rig.faults,
        before(operation) {
          if (operation !== broken || failed) return;
          failed = true;
          throw new Error('gone');
        },
      };
      const { run } = deleting(rig);
      if (broken) await expect(run('s-1')).rejects.toThrow('gone');
      await run('s-1');
      const { sessions, runs, messages, suspensions, events } = rig.stores.state;
      expect([sessions.size, runs.size, messages.size, suspensions.size, events.size], broken).toEqual([0, 0, 0, 0, 0]);
    }
  });

  it('says which runs go while they are all still there', async () => {
    const rig = new LoopRig({ turns: ['one', 'two'] });
    const first = await rig.run('go', { sessionId: 's-1' });
    const second = await rig.run('on', { sessionId: 's-1' });
    const there: [string, boolean][] = [];
    await deleteSession({ ...rig.deps, files: { erase: async () => true } }, { tenant: 't1', sessionId: 's-1' }, (runs) => {
      for (const runId of runs) there.push([runId, rig.stores.state.runs.has(`t1#${runId}`)]);
    });
    expect(new Set(there.map(([runId]) => runId))).toEqual(new Set([first.runId, second.runId]));
    expect(there.every(([, stored]) => stored)).toBe(true);
  });

  it('is refused while a run is active, and names it', async () => {
    const rig = new LoopRig({ turns: [look], config: confirming });
    const { runId } = await rig.run('go', { sessionId: 's-1' });
    await expect(deleting(rig).run('s-1')).rejects.toMatchObject({ code: 'SESSION_BUSY', extra: { runId } });
    expect(rig.stores.state.sessions.get('t1#s-1')?.deletingAt).toBeUndefined();
  });

  it('that nobody has is NOT_FOUND, unless files were put there before its first run', async () => {
    const rig = new LoopRig();
    const key = { tenant: 't1', sessionId: 's-9' };
    await expect(deleteSession({ ...rig.deps, files: { erase: async () => false } }, key)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await deleteSession({ ...rig.deps, files: { erase: async () => true } }, key);
  });

  it('that is under way lets no run take the session, one that had read it before included', async () => {
    const rig = new LoopRig({ turns: ['one'] });
    await rig.run('go', { sessionId: 's-1' });
    let reached = false;
    rig.faults = {
      ...rig.faults,
      before(operation) {
        if (operation !== 'swapSession' || reached) return;
        // The start has read the session; the deletion takes it first.
        reached = true;
        const session = rig.stores.state.sessions.get('t1#s-1');
        if (session) rig.stores.state.sessions.set('t1#s-1', { ...session, deletingAt: 1, activeRun: 'r-00000000000000000000000000' });
      },
    };
    await expect(rig.start('again', { sessionId: 's-1' })).rejects.toMatchObject({ code: 'CONFLICT', field: 'sessionId' });
    expect([...rig.stores.state.runs.values()]).toHaveLength(1);
  });

  it('that stopped half-way is gone on with, wherever it stopped', async () => {
    const operations = ['swapSession', 'listRuns', 'readEvents', 'eraseSuspension', 'eraseRun', 'eraseSession'];
    for (const broken of operations) {
      const rig = new LoopRig({ turns: [look, 'done'], config: confirming });
      const { runId } = await rig.run('go', { sessionId: 's-1' });
      await approve(rig, runId);
      await rig.settle(runId);
      let failed = false;
      rig.faults = {
        ...rig.faults,
        before(operation) {
          if (operation !== broken || failed) return;
          failed = true;
          throw new Error('gone');
        },
      };
      const { run } = deleting(rig);
      await expect(run('s-1'), broken).rejects.toThrow('gone');
      await run('s-1');
      const { sessions, runs, messages, suspensions } = rig.stores.state;
      expect([sessions.size, runs.size, messages.size, suspensions.size], broken).toEqual([0, 0, 0, 0]);
    }
  });
});
