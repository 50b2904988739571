import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decay } from './decay.js';

describe('decay', () => {
  it('is e^-x to the last digits', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 39.9, noNaN: true }), (x) => {
        expect(Math.abs(decay(x) / Math.exp(-x) - 1)).toBeLessThan(2e-14);
      }),
      { numRuns: 5000 },
    );
  });

  it('is 1 at 0, and 0 far away and where there is no number', () => {
    expect([decay(0), decay(-0)]).toEqual([1, 1]);
    expect([40, 1e300, Infinity, NaN].map(decay)).toEqual([0, 0, 0, 0]);
  });

  it('has the same bits on every machine', () => {
    const values = new Float64Array([1e-9, 0.01, 1 / 3, 1, 7.25, 18.420680743952367, 39.5].map(decay));
    expect(Buffer.from(values.buffer).toString('hex')).toMatchInlineSnapshot(
      `"a18f76ffffffef3ff19c2bfd7caeef3fa22e2f12d3ede63f38ef2c36568bd73f00fb23e35f45473f2c8c30e28e79453ef88c73c0a326603c"`,
    );
  });
});
