import { describe, expect, it } from 'vitest';
import { Cursor, ListOf, OneOf, parseCursor, SingleText, WholeNumber } from './query.js';

const limit = { type: 'query', data: 'limit' } as const;

describe('query parameters', () => {
  it.each([
    ['-1', -1],
    ['0', 0],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
  ])('takes %s as a cursor', (text, cursor) => {
    expect(parseCursor(text, 'starting_after')).toBe(cursor);
  });

  it.each(['abc', '9007199254740992', '-2', '', '1.5', '1e3', ' 1', ['1', '2']])(
    'refuses %j as a cursor: junk never means the beginning (CASES BL-07)',
    (junk) => {
      expect(() => parseCursor(junk, 'starting_after')).toThrow(
        expect.objectContaining({ code: 'invalid_cursor', param: 'starting_after' }),
      );
    },
  );

  it('reads an absent cursor as the whole log', () => {
    expect(new Cursor().transform(undefined, { type: 'query', data: 'starting_after' })).toBe(-1);
  });

  it.each(['0', '101', '10abc', '', ['5', '6']])('refuses %j as a limit and names it', (text) => {
    const pipe = new WholeNumber({ min: 1, max: 100, fallback: 20 });
    expect(() => pipe.transform(text, limit)).toThrow(
      expect.objectContaining({ code: 'invalid_value', param: 'limit' }),
    );
  });

  it('falls back when nothing is given', () => {
    expect(new WholeNumber({ min: 1, max: 100, fallback: 20 }).transform(undefined, limit)).toBe(20);
    expect(new OneOf(['asc', 'desc'], 'desc').transform(undefined, limit)).toBe('desc');
    expect(new ListOf(['a']).transform(undefined, limit)).toBeNull();
    expect(new SingleText().transform(undefined, limit)).toBeNull();
  });

  it('takes a comma list of known words and refuses an unknown one', () => {
    const pipe = new ListOf(['queued', 'running']);
    expect(pipe.transform('queued, running', limit)).toEqual(['queued', 'running']);
    expect(() => pipe.transform('queued,lost', limit)).toThrow(expect.objectContaining({ code: 'invalid_value' }));
  });
});
