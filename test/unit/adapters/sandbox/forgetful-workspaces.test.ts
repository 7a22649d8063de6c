import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { forgetfulWorkspaces } from '../../../../lib/adapters/sandbox/forgetful-workspaces.ts';
import { seededRandom } from '../../../support/time.ts';

it('a deployment without workspaces hands out an empty one each time, also to the same session', async () => {
  const root = join(await mkdtemp(join(tmpdir(), 'handrail-forgetful-')), 'workspace');
  const workspaces = forgetfulWorkspaces({ root, random: seededRandom(1), now: Date.now });
  const session = { tenant: 't1', sessionId: 's-1' };
  const first = await workspaces.open(session);
  await first.write('secret.txt', Buffer.from('mine'), 'create');
  expect(await first.list('.', { depth: 1, limit: 10 })).toHaveLength(1);
  for (const next of [session, { tenant: 't2', sessionId: 's-2' }])
    expect(await (await workspaces.open(next)).list('.', { depth: 1, limit: 10 })).toEqual([]);
});
