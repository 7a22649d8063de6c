import { describe, expect, it } from 'vitest';
import { noteRefusal, noteResult, verdict } from '../../../../lib/core/hands/loop-detection.ts';
import type { Repeat } from '../../../../lib/core/loop/frames.ts';

const key = (n: number): string => String(n).padStart(64, '0').split('').reverse().join('');

describe('loop detection', () => {
  it('refuses after three equal results in a row, and ends when asked once more', () => {
    const repeats: Repeat[] = [];
    for (let n = 0; n < 3; n++) {
      expect(verdict(repeats, key(1))).toBe('run');
      noteResult(repeats, key(1), key(9));
    }
    expect(verdict(repeats, key(1))).toBe('refuse');
    expect(verdict(repeats, key(1))).toBe('refuse');
    noteRefusal(repeats, key(1));
    expect(verdict(repeats, key(1))).toBe('end');
    expect(verdict(repeats, key(2))).toBe('run');
  });

  it('a poller whose results change is not a loop', () => {
    const repeats: Repeat[] = [];
    for (const result of [1, 1, 2, 2, 1, 1]) noteResult(repeats, key(1), key(result));
    expect(verdict(repeats, key(1))).toBe('run');
  });

  it('other calls in between do not hide a loop', () => {
    const repeats: Repeat[] = [];
    for (let n = 0; n < 3; n++) {
      noteResult(repeats, key(1), key(9));
      noteResult(repeats, key(2), key(n));
    }
    expect(verdict(repeats, key(1))).toBe('refuse');
  });

  it('keeps the 12 latest calls, in few bytes', () => {
    const repeats: Repeat[] = [];
    for (let n = 0; n < 100; n++) noteResult(repeats, key(n), key(n));
    noteResult(repeats, key(88), key(88));
    noteResult(repeats, key(100), key(0));
    expect(repeats).toHaveLength(12);
    expect(repeats.at(-2)).toMatchObject({ call: key(88).slice(0, 12), count: 2 });
    expect(JSON.stringify(repeats).length).toBeLessThan(3_000);
  });
});
