import { expect, it, vi } from 'vitest';
import { JointReads } from './joint-reads.js';

/** A read that is answered by hand. */
function held() {
  const answers: Array<(value: number) => void> = [];
  const read = (): Promise<number> => new Promise((resolve) => answers.push(resolve));
  return { answers, read };
}

it('asks once for all who come while a read is under way, and none gets an answer older than its question', async () => {
  const reads = new JointReads<number>();
  const { answers, read } = held();
  const first = reads.get('a', read);
  const later = [reads.get('a', read), reads.get('a', read)];
  expect(answers).toHaveLength(1);
  answers[0]!(1);
  expect(await first).toBe(1);
  await vi.waitFor(() => expect(answers).toHaveLength(2));
  answers[1]!(2);
  expect(await Promise.all(later)).toEqual([2, 2]);
  void reads.get('a', read);
  void reads.get('b', read);
  expect(answers).toHaveLength(4);
});

it('a read that fails fails for those alone who share it', async () => {
  const reads = new JointReads<number>();
  const failed = reads.get('a', () => Promise.reject(new Error('no')));
  const next = reads.get('a', () => Promise.resolve(2));
  await expect(failed).rejects.toThrow('no');
  expect(await next).toBe(2);
});
