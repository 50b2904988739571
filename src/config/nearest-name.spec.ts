import { describe, expect, it } from 'vitest';
import { nearestName } from './nearest-name.js';

const NAMES = ['LMSP_PORT', 'LMSP_HOST', 'LMSP_MAX_ROWS'];

describe('nearestName', () => {
  it.each([
    ['LMSP_PROT', 'LMSP_PORT'],
    ['LMSP_HOTS', 'LMSP_HOST'],
    ['LMSP_MAXROWS', 'LMSP_MAX_ROWS'],
  ])('takes %s for %s', (typed, meant) => {
    expect(nearestName(typed, NAMES)).toBe(meant);
  });

  it('suggests nothing for a name that is far from all', () => {
    expect(nearestName('LMSP_SOMETHING_ELSE', NAMES)).toBeNull();
  });
});
