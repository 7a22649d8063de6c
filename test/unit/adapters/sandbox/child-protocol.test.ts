import { expect, test } from 'vitest';
import { decodeMessage, encodeMessage, splitContents } from '../../../../lib/adapters/sandbox/child-protocol.ts';

test('a message comes back as it was, header and contents', () => {
  const contents = [Buffer.from('one'), Buffer.alloc(0), Buffer.from([0, 255, 10])];
  const { header, rest } = decodeMessage(Buffer.concat(encodeMessage({ text: 'é', sizes: [3, 0, 3] }, contents)));
  expect(header).toEqual({ text: 'é', sizes: [3, 0, 3] });
  expect(splitContents([3, 0, 3], rest).map((part) => Buffer.from(part))).toEqual(contents);
});

test('a message that is cut short, or whose sizes are not those of its contents, is refused', () => {
  const whole = Buffer.concat(encodeMessage({ a: 1 }, [Buffer.from('xyz')]));
  for (const length of [0, 3, 8]) expect(() => decodeMessage(whole.subarray(0, length)), String(length)).toThrow(RangeError);
  const { rest } = decodeMessage(whole);
  for (const sizes of [[2], [4], [3, 1], []]) expect(() => splitContents(sizes, rest), String(sizes)).toThrow(RangeError);
});
