/** Deeper values are shown as a note: nobody reads them, and recursion must end. */
const SHOWN_DEPTH = 50;

/**
 * Any value as JSON text with two-space indent, for a reader. Never throws: what JSON lacks is named in place
 * (seed 004 section 3.4). BigInt → its digits; NaN, Infinity → their names; Date → ISO; Map → object or entries; Set →
 * array; bytes → base64; a circle → "(circular)". Functions, symbols and undefined are left out, in arrays null.
 */
export function showJson(value: unknown): string {
  return JSON.stringify(shown(value, []) ?? null, null, 2);
}

function shown(value: unknown, above: readonly object[]): unknown {
  switch (typeof value) {
    case 'bigint':
      return value.toString();
    case 'number':
      return Number.isFinite(value) ? value : String(value);
    case 'function':
    case 'symbol':
    case 'undefined':
      return undefined;
    case 'object':
      break;
    default:
      return value;
  }
  if (value === null) return null;
  if (above.includes(value)) return '(circular)';
  if (above.length >= SHOWN_DEPTH) return '(nested too deeply)';
  try {
    return shownObject(value, [...above, value]);
  } catch {
    return '(cannot be read)';
  }
}

function shownObject(value: object, above: readonly object[]): unknown {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
  if (value instanceof ArrayBuffer) return `base64:${Buffer.from(value).toString('base64')}`;
  if (ArrayBuffer.isView(value)) return `base64:${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')}`;
  if (value instanceof Error) return { name: value.name, message: value.message };
  if (value instanceof Set) return [...value].map((item) => shown(item, above) ?? null);
  if (value instanceof Map) {
    const entries = [...value];
    if (entries.every(([key]) => typeof key === 'string')) return shownEntries(entries, above);
    return entries.map(([key, item]) => [shown(key, above) ?? null, shown(item, above) ?? null]);
  }
  if (Array.isArray(value)) return Array.from(value, (item) => shown(item, above) ?? null);
  if ('toJSON' in value && typeof value.toJSON === 'function') return shown(value.toJSON(), above);
  return shownEntries(
    Object.keys(value).map((key) => [key, Reflect.get(value, key)]),
    above,
  );
}

function shownEntries(entries: readonly (readonly [string, unknown])[], above: readonly object[]): object {
  const result: Record<string, unknown> = Object.create(null);
  for (const [key, item] of entries) {
    const part = shown(item, above);
    if (part !== undefined) result[key] = part;
  }
  return result;
}
