import { expect, test } from 'vitest';
import { OutputCut } from '../../../../lib/adapters/sandbox/output-cut.ts';

function cutOf(limit: number, ...chunks: (string | Buffer)[]): OutputCut {
  const cut = new OutputCut(limit);
  for (const chunk of chunks) cut.push(Buffer.from(chunk as string));
  return cut;
}

test('output within the limit is whole, however it arrives', () => {
  expect(cutOf(10, 'abc', '', 'defg', 'hij').text()).toBe('abcdefghij');
  expect(cutOf(10).text()).toBe('');
});

test('beyond the limit the middle is left out, and its size is told', () => {
  const expected = 'abcdef\n[… 16 bytes of output left out …]\nwxyz';
  expect(cutOf(10, 'abcdefghijklmnopqrstuvwxyz').text()).toBe(expected);
  expect(cutOf(10, ...'abcdefghijklmnopqrstuvwxyz'.split('')).text()).toBe(expected);
  expect(cutOf(10, 'abcdefgh', 'ijklmnopqrstuvw', 'xyz').text()).toBe(expected);
});

test('no character is halved by the cut', () => {
  for (const character of ['é', '€', '😀']) {
    for (let limit = 10; limit < 20; limit++) {
      expect(cutOf(limit, character.repeat(100)).text(), `${character} ${limit}`).toMatch(
        new RegExp(`^(${character})+\n\\[.*\\]\n(${character})+$`, 'u'),
      );
    }
  }
});

test('bytes that are not text are shown as replacement characters', () => {
  expect(cutOf(100, Buffer.from([0x61, 0xff, 0xfe, 0x62])).text()).toBe('a\ufffd\ufffdb');
});

test('the end of the output can be had alone', () => {
  expect(cutOf(100, 'first\n', 'last').end(6)).toBe('t\nlast'.slice(-6));
  expect(cutOf(100, 'ab').end(50)).toBe('ab');
});
