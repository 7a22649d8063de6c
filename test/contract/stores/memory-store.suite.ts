import { describe, expect, it } from 'vitest';
import { MEMORY } from '../../../lib/core/limits.ts';
import type { MemoryStore } from '../../../lib/core/ports/memory-store.ts';
import type { StoreSet } from '../../support/dynalite.ts';
import { type Abilities, everything, newTenant } from './samples.ts';

/** What any MemoryStore must do. */
export function memoryStoreContract(stores: () => StoreSet, can: Abilities = everything): void {
  const memory = (): MemoryStore => stores().memory;
  const newScope = () => ({ tenant: newTenant(), namespace: 'main' });
  const entry = (key: string, value = `value of ${key}`, updatedAt = 1) => ({ key, value, updatedAt });

  describe('memory', () => {
    it('keeps an entry until it is overwritten or removed', async () => {
      const scope = newScope();
      await memory().write(scope, entry('a', ''));
      expect(await memory().read(scope, 'a')).toEqual(entry('a', ''));
      await memory().write(scope, entry('a', 'new', 2));
      expect(await memory().read(scope, 'a')).toEqual(entry('a', 'new', 2));
      expect(await memory().remove(scope, 'a')).toBe(true);
      expect(await memory().remove(scope, 'a')).toBe(false);
      expect(await memory().read(scope, 'a')).toBeUndefined();
    });

    it('is apart by tenant and namespace', async () => {
      const scope = newScope();
      await memory().write(scope, entry('a'));
      expect(await memory().read({ ...scope, namespace: 'other' }, 'a')).toBeUndefined();
      expect(await memory().read(newScope(), 'a')).toBeUndefined();
      expect((await memory().search({ ...scope, namespace: 'mai' }, { limit: 10 })).items).toEqual([]);
    });

    it('is searched by prefix and by text, in order of the keys, page by page', async () => {
      const scope = newScope();
      for (const key of ['note/b', 'note/a', 'note/c', 'task/a', 'note'])
        await memory().write(scope, entry(key, key === 'note/c' ? 'Buy milk' : 'nothing'));
      const keys = async (query: { prefix?: string; text?: string; limit: number; cursor?: string }) => {
        const page = await memory().search(scope, query);
        return { keys: page.items.map(({ key }) => key), cursor: page.cursor };
      };
      expect((await keys({ limit: 10 })).keys).toEqual(['note', 'note/a', 'note/b', 'note/c', 'task/a']);
      expect((await keys({ prefix: 'note/', limit: 10 })).keys).toEqual(['note/a', 'note/b', 'note/c']);
      expect((await keys({ text: 'milk', limit: 10 })).keys).toEqual(['note/c']);
      const first = await keys({ prefix: 'note/', limit: 2 });
      expect(first.keys).toEqual(['note/a', 'note/b']);
      expect((await keys({ prefix: 'note/', limit: 2, cursor: first.cursor ?? '' })).keys).toEqual(['note/c']);
    });

    it.skipIf(!can.cursors)('refuses a cursor of another search', async () => {
      const scope = newScope();
      for (const key of ['a', 'b']) await memory().write(scope, entry(key));
      const { cursor } = await memory().search(scope, { limit: 1 });
      await expect(memory().search(newScope(), { limit: 1, cursor: cursor ?? '' })).rejects.toMatchObject({ code: 'BAD_REQUEST' });
      await expect(memory().search(scope, { prefix: 'b', limit: 1, cursor: cursor ?? '' })).rejects.toMatchObject({ code: 'BAD_REQUEST' });
    });

    it.skipIf(!can.sizes)('refuses a value that is too large', async () => {
      await expect(memory().write(newScope(), entry('a', 'é'.repeat(MEMORY.valueBytes / 2 + 1)))).rejects.toMatchObject({
        code: 'RESOURCE_EXHAUSTED',
      });
    });
  });
}
