import { describe, expect, it } from 'vitest';
import { HandrailError } from '../../../../lib/core/errors.ts';
import type { Category } from '../../../../lib/core/hands/category.ts';
import { defineTool, type ToolDefinitionInput } from '../../../../lib/core/hands/define-tool.ts';
import { createRegistry } from '../../../../lib/core/hands/registry.ts';

const define = (input: Partial<ToolDefinitionInput> & { name: string }) =>
  defineTool({ description: 'does it', parameters: { type: 'object' }, category: 'file', ...input });

const file = (...tools: ReturnType<typeof define>[]): Category => ({
  name: 'file',
  timeoutMs: 5_000,
  memoryMb: 256,
  maxConcurrency: 5,
  needs: ['workspace'],
  tools,
});

describe('registry', () => {
  it('starts with the tools of its categories and finds them by exact name or alias only', () => {
    const readFile = define({ name: 'read_file', aliases: ['open_file'] });
    const registry = createRegistry([file(readFile)]);
    expect(registry.get('read_file')).toBe(readFile);
    expect(registry.get('open_file')).toBeUndefined();
    expect(registry.resolve('open_file')).toBe(readFile);
    for (const name of ['READ_FILE', ' read_file', 'read-file', '__proto__', 'constructor', 'toString', ''])
      expect(registry.resolve(name)).toBeUndefined();
  });

  it('refuses names and aliases that are taken, and changes nothing then', () => {
    const registry = createRegistry([file(define({ name: 'read_file', aliases: ['open_file'] }))]);
    for (const input of [
      { name: 'read_file' },
      { name: 'open_file' },
      { name: 'x', aliases: ['read_file'] },
      { name: 'x', aliases: ['open_file'] },
      { name: 'x', aliases: ['x'] },
    ])
      expect(() => registry.register(define(input))).toThrow(/is taken/);
    expect(registry.getAll()).toHaveLength(1);
    expect(registry.resolve('x')).toBeUndefined();
    expect(() => createRegistry([file(define({ name: 'a' }), define({ name: 'a' }))])).toThrow(/is taken/);
  });

  it('frees name and aliases with unregister', () => {
    const registry = createRegistry([file(define({ name: 'read_file', aliases: ['open_file'] }))]);
    expect(registry.unregister('read_file')).toBe(true);
    expect(registry.unregister('read_file')).toBe(false);
    expect(registry.resolve('open_file')).toBeUndefined();
    registry.register(define({ name: 'open_file' }));
    expect(registry.getAll().map(({ name }) => name)).toEqual(['open_file']);
  });

  it('gives the model the same list until the set changes, without permissions', () => {
    const registry = createRegistry([file(define({ name: 'a', permissions: { filesystem: { read: ['**'] } } }))]);
    const before = registry.toolsForModel();
    expect(registry.toolsForModel()).toBe(before);
    expect(before).toEqual([{ name: 'a', description: 'does it', parameters: { type: 'object' } }]);
    registry.register(define({ name: 'b' }));
    expect(registry.toolsForModel().map(({ name }) => name)).toEqual(['a', 'b']);
    registry.unregister('a');
    expect(registry.toolsForModel().map(({ name }) => name)).toEqual(['b']);
  });

  it('lists by category and refuses a category that does not exist', () => {
    const registry = createRegistry([file(define({ name: 'a' }))]);
    registry.register(define({ name: 'ask_user', category: 'built-in' }));
    expect(registry.getByCategory('file').map(({ name }) => name)).toEqual(['a']);
    expect(registry.categoryOf(define({ name: 'a' }))?.memoryMb).toBe(256);
    expect(registry.categoryOf({ category: 'built-in' })).toBeUndefined();
    expect(() => registry.register(define({ name: 'b', category: 'files' }))).toThrow(/category/);
  });

  it.each([
    ['its own', { timeoutMs: 7_000 }, 7_000],
    ['its category’s', {}, 5_000],
    ['the default', { category: 'skill' }, 10_000],
    ['at least a second', { timeoutMs: 5 }, 1_000],
    ['at most two minutes', { timeoutMs: 9_000_000 }, 120_000],
  ])('timeout: %s', (_name, input, expected) => {
    const registry = createRegistry([file()]);
    expect(registry.timeoutOf(define({ name: 'a', ...input }))).toBe(expected);
  });

  it('suggests the nearest name, and none when nothing is near', () => {
    const registry = createRegistry([file(define({ name: 'read_file', aliases: ['cat_file'] }), define({ name: 'list_directory' }))]);
    for (const name of ['readfile', 'functions.read_file', 'READ_FILE', ' read-file()', 'raed_file'])
      expect(registry.notFound(name).suggestions).toEqual(['Did you mean "read_file"?']);
    const far = registry.notFound('str_replace_editor');
    expect(far.suggestions).toEqual([]);
    expect(far.message).toBe('there is no tool "str_replace_editor"; there are: read_file, list_directory');
    expect(registry.notFound('x'.repeat(100_000)).message.length).toBeLessThan(300);
  });

  it('shows only the tools a run may see', () => {
    const registry = createRegistry([file(define({ name: 'read_file' }), define({ name: 'write_file' }))]);
    const error = registry.notFound('write_files', registry.getAll().slice(0, 1));
    expect(error.message).not.toContain('write_file,');
    expect(error.suggestions).not.toContain('Did you mean "write_file"?');
  });
});

describe('permissions at registration and at each call', () => {
  const wide = define({ name: 'wide', permissions: { filesystem: { write: ['/**'] } } });
  const security = { filesystem: { read: ['**'], write: ['**'] } };

  it('refuses a tool that is wider than security', () => {
    const registry = createRegistry([file()], { security });
    expect(() => registry.register(wide)).toThrow(HandrailError);
    expect(() => registry.register(wide)).toThrow('filesystem.write: "/**"');
  });

  it('leaves out a category’s own tool that is wider, lists it and says why when it is asked for', () => {
    const registry = createRegistry([file(wide, define({ name: 'narrow' }))], { security });
    expect(registry.getAll().map(({ name }) => name)).toEqual(['narrow']);
    expect(registry.refused()).toEqual([{ name: 'wide', denied: ['filesystem.write: "/**"'] }]);
    expect(registry.notFound('wide')).toMatchObject({ code: 'PERMISSION_DENIED' });
  });

  it('honours a policy that was tightened later', () => {
    const writer = define({ name: 'writer', permissions: { filesystem: { write: ['**'] } } });
    const registry = createRegistry([file(writer)], { security });
    expect(registry.deniedPermissions(writer)).toBeUndefined();
    expect(registry.deniedPermissions(writer, { filesystem: { write: ['out/**'] } })).toMatchObject({
      code: 'PERMISSION_DENIED',
      message: expect.stringContaining('filesystem.write: "**"'),
    });
  });
});
