import { describe, expect, it } from 'vitest';
import { ConfigInvalid } from '../config/index.js';
import { DataDirectoryInUse, StoreUnusable } from '../database/index.js';
import { StartRefused } from '../errors/index.js';
import { complaintOf, exitCodeOf } from './exit-codes.js';

describe('exit codes (OPERATE 1.2)', () => {
  it.each([
    [65, new StoreUnusable('lmsp.sqlite', 'newer schema')],
    [65, Object.assign(new Error('malformed'), { code: 'SQLITE_CORRUPT' })],
    [1, Object.assign(new Error('locked'), { code: 'SQLITE_BUSY' })],
    [75, new DataDirectoryInUse('/data')],
    [78, new ConfigInvalid([])],
    [78, new StartRefused(['extension a 1.0.0: no'])],
    [1, new Error('anything else')],
    [1, undefined],
  ])('%i for %s', (code, error) => {
    expect(exitCodeOf(error)).toBe(code);
  });

  it('every complaint is one line, and damage says what to do', () => {
    expect(complaintOf(new Error('one\n  two'))).toBe('one two');
    const damage = Object.assign(new Error('malformed'), { code: 'SQLITE_CORRUPT' });
    expect(complaintOf(damage)).toBe('the store is damaged; put a copy in its place (malformed)');
  });
});
