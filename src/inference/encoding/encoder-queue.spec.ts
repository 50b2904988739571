import { describe, expect, it } from 'vitest';
import type { TokenRow } from './encoder.js';
import { EncoderQueue } from './encoder-queue.js';

const row = (length: number): TokenRow => ({ ids: new Array<number>(length).fill(1), typeIds: [] });
const rows = (...lengths: number[]): TokenRow[] => lengths.map(row);

function batches(queue: EncoderQueue, limits: { rows: number; tokens: number }): string[] {
  const seen: string[] = [];
  while (!queue.isEmpty) {
    seen.push(
      queue
        .next(limits)
        .map(({ request, index }) => `${request}${index}`)
        .join(' '),
    );
  }
  return seen;
}

describe('the queue of an encoder', () => {
  it('puts texts of like length together, within the limits', () => {
    const queue = new EncoderQueue();
    queue.add('a', rows(5, 90, 6, 100, 5));
    expect(batches(queue, { rows: 3, tokens: 200 })).toEqual(['a3 a1', 'a2 a4 a0']);
  });

  it('runs a text that is over the limit of tokens alone', () => {
    const queue = new EncoderQueue();
    queue.add('a', rows(300, 300));
    expect(batches(queue, { rows: 8, tokens: 200 })).toEqual(['a1', 'a0']);
  });

  it('lets requests take turns, so that a large one holds up nobody', () => {
    const queue = new EncoderQueue();
    queue.add('a', rows(9, 9, 9, 9, 9));
    queue.add('b', rows(9));
    expect(queue.next({ rows: 2, tokens: 100 }).map(({ request }) => request)).toEqual(['a', 'b']);
    queue.add('c', rows(90));
    queue.add('d', rows(90));
    const one = { rows: 1, tokens: 100 };
    expect(batches(queue, one)).toEqual(['a3', 'c0', 'd0', 'a2', 'a1', 'a0']);
  });

  it('forgets a request that is dropped', () => {
    const queue = new EncoderQueue();
    queue.add('a', rows(9, 9));
    queue.add('b', rows(9));
    queue.drop('a');
    expect(batches(queue, { rows: 8, tokens: 100 })).toEqual(['b0']);
  });
});
