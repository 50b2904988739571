import { describe, expect, it } from 'vitest';
import { ConfigInvalid } from '../config/index.js';
import { DataDirectoryInUse, StoreUnusable } from '../database/index.js';
import { exitCodeOf } from './exit-codes.js';

describe('exit codes (OPERATE 1.2)', () => {
  it.each([
    [65, new StoreUnusable('lmsp.sqlite', 'newer schema')],
    [75, new DataDirectoryInUse('/data')],
    [78, new ConfigInvalid([])],
    [1, new Error('anything else')],
    [1, undefined],
  ])('%i for %s', (code, error) => {
    expect(exitCodeOf(error)).toBe(code);
  });
});
