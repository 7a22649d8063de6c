import { describe, expect, it } from 'vitest';
import { CODES, codes, HandrailError } from '../../../../lib/core/errors.ts';
import { failure, failureFrom, processResult, toolResultSchema } from '../../../../lib/core/hands/result.ts';
import { cleanText, escapedBytes } from '../../../../lib/core/hands/text.ts';
import { jsonBytes } from '../../../../lib/core/json.ts';
import { RESULT_BYTES } from '../../../../lib/core/limits.ts';

const facts = { toolName: 'a_tool', duration: 12, now: 1_700_000_000_000 };
const dataOf = (output: Parameters<typeof processResult>[0], budget = RESULT_BYTES): string =>
  processResult(output, facts, budget).data ?? '';

describe('a result', () => {
  it('keeps text as it is and shows JSON with two spaces, stamped', () => {
    expect(processResult({ text: 'plain "text"\n\ttoo' }, facts, RESULT_BYTES)).toEqual({
      success: true,
      data: 'plain "text"\n\ttoo',
      metadata: { toolName: 'a_tool', duration: 12, truncated: false, timestamp: 1_700_000_000_000 },
    });
    expect(dataOf({ json: { a: [1] } })).toBe('{\n  "a": [\n    1\n  ]\n}');
  });

  it('R59 shows what JSON lacks', () => {
    const circle: { self?: unknown } = {};
    circle.self = circle;
    const shared = { x: 1 };
    const shown = JSON.parse(
      dataOf({
        json: {
          undefined: undefined,
          list: [undefined, () => 1, Symbol('s')],
          nan: Number.NaN,
          infinity: -Infinity,
          empty: '',
          set: new Set(),
          map: new Map([['k', new Map([[1, 2]])]]),
          date: new Date(0),
          badDate: new Date(Number.NaN),
          big: 12345678901234567890n,
          bytes: new Uint8Array([1, 2, 3]),
          buffer: Buffer.from('hi'),
          error: new TypeError('no'),
          circle,
          twice: [shared, shared],
          throws: {
            get x() {
              throw new Error('getter');
            },
          },
        },
      }),
    );
    expect(shown).toEqual({
      list: [null, null, null],
      nan: 'NaN',
      infinity: '-Infinity',
      empty: '',
      set: [],
      map: { k: [[1, 2]] },
      date: '1970-01-01T00:00:00.000Z',
      badDate: 'Invalid Date',
      big: '12345678901234567890',
      bytes: 'base64:AQID',
      buffer: 'base64:aGk=',
      error: { name: 'TypeError', message: 'no' },
      circle: { self: '(circular)' },
      twice: [{ x: 1 }, { x: 1 }],
      throws: '(cannot be read)',
    });
  });

  it.each([[undefined], [null], [() => 1]])('R59 nothing (%s) is null', (json) => {
    expect(dataOf({ json })).toBe('null');
  });

  it('survives nesting without end', () => {
    let deep: unknown = 1;
    for (let n = 0; n < 100_000; n++) deep = [deep];
    expect(dataOf({ json: deep })).toContain('(nested too deeply)');
  });
});

describe('cleaning', () => {
  it.each([
    ['colours', '\x1b[1;31mred\x1b[0m', 'red'],
    ['a title', '\x1b]0;title\x07text', 'text'],
    ['a link', '\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\', 'link'],
    ['a title without end hides nothing', 'a\x1b]0;rest\nnext', 'a0;rest\nnext'],
    ['cursor and charset', '\x1b(Ba\x1bMb\x1b[2Kc', 'abc'],
    ['one-byte forms', 'a\x9b31mb', 'a31mb'],
    ['NUL, bell, backspace, DEL', 'a\0\x07\b\x7fb', 'ab'],
    ['line ends', 'a\r\nb\rc\n\td', 'a\nb\nc\n\td'],
    ['half characters', 'a\ud800b\udc00', 'a\ufffdb\ufffd'],
    ['whole ones stay', 'é😀\u200d👩', 'é😀\u200d👩'],
  ])('%s', (_name, text, clean) => {
    expect(cleanText(text)).toBe(clean);
  });

  it('is linear in hostile text', () => {
    for (const evil of ['\x1b]', '\x1b[', '\x1b', '\x1b]8;;'].map((text) => text.repeat(300_000)))
      expect(cleanText(evil).length).toBeLessThan(evil.length);
  });
});

describe('cutting', () => {
  it('R35 a result just under the state limit comes out under its budget, counted in bytes', () => {
    for (const text of ['x'.repeat(255_900), '€'.repeat(85_300), '"\\\n'.repeat(85_300)]) {
      const result = processResult({ text }, facts, RESULT_BYTES);
      expect(result.metadata.truncated).toBe(true);
      expect(result.data).toMatch(/result too long: \d+ characters, cut to 50 KiB/);
      expect(jsonBytes(result.data) - 2).toBeLessThanOrEqual(RESULT_BYTES);
      expect(jsonBytes(result.data) - 2).toBeGreaterThan(RESULT_BYTES - 10);
    }
  });

  it('R57 never parts a character, wherever the boundary falls', () => {
    for (let budget = 0; budget < 300; budget++) {
      const result = processResult({ text: '😀é"x'.repeat(100) }, facts, budget);
      expect(result.data?.isWellFormed()).toBe(true);
      expect(jsonBytes(result.data) - 2).toBeLessThanOrEqual(budget);
    }
  });

  it('leaves what fits exactly', () => {
    const text = '"'.repeat(100);
    expect(dataOf({ text }, 200)).toBe(text);
    expect(dataOf({ text }, 199)).not.toBe(text);
  });
});

describe('parts', () => {
  const good = (name: string, data = `data of ${name}`) => ({ name, data });
  const bad = (name: string) => ({ name, error: `no ${name}` });

  it('all well: the data, joined', () => {
    expect(processResult({ parts: [good('a'), good('b')] }, facts, RESULT_BYTES)).toMatchObject({
      success: true,
      data: 'data of a\ndata of b',
    });
  });

  it('some failed: begins with the count, then the failures by name, then the data', () => {
    const result = processResult({ parts: [good('a'), bad('b'), good('c'), bad('d'), good('e')] }, facts, RESULT_BYTES);
    expect(result.success).toBe(true);
    expect(result.data).toMatch(
      /^3 of 5 succeeded\. Failed \(retry only these, if at all\):\n- b: no b\n- d: no d\n\nSucceeded:\ndata of a\n/,
    );
    expect(result.partialFailure).toEqual([
      { name: 'b', error: 'no b' },
      { name: 'd', error: 'no d' },
    ]);
    expect(result).not.toHaveProperty('error');
  });

  it('all failed: ALL_FAILED with each by name', () => {
    const result = processResult({ parts: [bad('a'), bad('b')] }, facts, RESULT_BYTES);
    expect(result).toMatchObject({
      success: false,
      error: { code: 'ALL_FAILED', message: 'all 2 failed:\n- a: no a\n- b: no b' },
      partialFailure: { length: 2 },
    });
  });

  it('data and partialFailure share the budget, and no cut loses the failures', () => {
    const parts = [good('big', '€'.repeat(100_000)), ...Array.from({ length: 2_000 }, (_, n) => bad(`file-${n}`))];
    const result = processResult({ parts }, facts, RESULT_BYTES);
    expect(jsonBytes(result.data) + jsonBytes(result.partialFailure)).toBeLessThanOrEqual(RESULT_BYTES + 2);
    expect(result.partialFailure?.at(-1)?.error).toMatch(/^and \d+ more$/);
    expect(result.data).toContain('- file-0: no file-0');
  });
});

describe('failures', () => {
  it('carry code, recoverability and advice of the table', () => {
    for (const code of codes) {
      const result = toolResultSchema.parse(failure(code, 'what happened', facts));
      expect(result).toMatchObject({
        success: false,
        error: { code, message: 'what happened', recoverable: CODES[code].recoverable, suggestions: [CODES[code].advice] },
      });
    }
  });

  it('say what a HandrailError says', () => {
    const error = new HandrailError('PERMISSION_DENIED', 'no', { suggestions: ['do this'] });
    expect(failureFrom(error, facts).error).toEqual({
      code: 'PERMISSION_DENIED',
      message: 'no',
      recoverable: false,
      suggestions: ['do this'],
    });
    expect(failureFrom(new HandrailError('INTERNAL', 'no'), facts).error?.code).toBe('UNHANDLED');
  });

  it.each([
    ['an error', new TypeError('x is not a function'), 'TypeError: x is not a function'],
    ['a string', 'boom', 'boom'],
    ['null', null, 'object'],
    [
      'a system error',
      Object.assign(new Error("ENOENT: no such file, open '/host/secret'"), { code: 'ENOENT', syscall: 'open' }),
      'ENOENT in open',
    ],
    [
      'a trap',
      new Proxy(new Error('x'), {
        get: () => {
          throw new Error('trap');
        },
        has: () => {
          throw new Error('trap');
        },
      }),
      'cannot be read',
    ],
  ])('from %s: UNHANDLED, no stack, no host path', (_name, thrown, message) => {
    const { error } = failureFrom(thrown, facts);
    expect(error?.code).toBe('UNHANDLED');
    expect(error?.message).toContain(message);
    expect(error?.message).not.toMatch(/\/host\/secret|\n\s+at /);
  });

  it('are bounded', () => {
    const error = new HandrailError('UNHANDLED', '€\n'.repeat(1_000_000), {
      suggestions: Array.from({ length: 100 }, () => 'x'.repeat(10_000)),
    });
    expect(escapedBytes(JSON.stringify(failureFrom(error, facts)))).toBeLessThan(6_000);
  });
});
