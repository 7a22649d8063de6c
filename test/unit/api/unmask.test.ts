import { describe, expect, it } from 'vitest';
import { unmask } from '../../../lib/api/unmask.ts';
import { MASK, maskJson } from '../../../lib/core/preview.ts';

const [ONE, TWO] = [`sk-${'a1B2'.repeat(6)}`, `sk-${'c3D4'.repeat(6)}`];
const wrong = (message: string) => new Error(message);

describe('arguments edited with their secrets masked', () => {
  it('have the secrets that were left in place', () => {
    const original = { keys: [ONE, TWO], note: 'x' };
    expect(JSON.stringify(maskJson(original))).not.toContain(ONE);
    expect(unmask({ keys: [MASK, MASK], note: 'y' }, original, wrong)).toEqual({ keys: [ONE, TWO], note: 'y' });
  });

  it('may hold what looks like a mask where there is no secret', () => {
    const text = `Title\n\n${MASK}\n\nteh body`;
    expect(unmask({ text: text.replace('teh', 'the') }, { text }, wrong)).toEqual({ text: text.replace('teh', 'the') });
  });

  it('give no secret to a mask that was moved', () => {
    expect(unmask({ other: MASK }, { key: ONE }, wrong)).toEqual({ other: MASK });
  });

  it.each([[[MASK]], [[MASK, MASK, 'new']]])('are refused where a list became longer or shorter: %j', (keys) => {
    expect(() => unmask({ keys }, { keys: [ONE, TWO] }, wrong)).toThrow('as long as it was');
    expect(unmask({ keys: ['a'] }, { keys: [ONE, TWO] }, wrong)).toEqual({ keys: ['a'] });
  });
});
