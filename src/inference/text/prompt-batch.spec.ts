import { expect, it } from 'vitest';
import { takeBatch, type WaitingPrompt } from './prompt-batch.js';

const directory = '/models/one';
const prompt = (characters: number, alone = false): WaitingPrompt => ({
  job: { kind: 'text', directory, text: 'x'.repeat(characters) },
  alone,
});
const sizes = (waiting: WaitingPrompt[]): number[] => {
  const taken: number[] = [];
  while (waiting.length > 0) taken.push(takeBatch(waiting).length);
  return taken;
};

it('short prompts go together, 64 at most', () => {
  expect(sizes(Array.from({ length: 150 }, () => prompt(10)))).toEqual([64, 64, 22]);
});

it('what is long, has functions or lost its worker goes by itself', () => {
  const withTools: WaitingPrompt = { job: { kind: 'chat', directory, messages: [], tools: [{}] }, alone: false };
  expect(sizes([prompt(1), prompt(100_000), prompt(1), prompt(2)])).toEqual([1, 1, 2]);
  expect(sizes([prompt(1), withTools, prompt(1, true), prompt(1)])).toEqual([1, 1, 1, 1]);
});

it('leaves other workers their share', () => {
  const waiting = [1, 2, 3, 4, 5].map((size) => prompt(size));
  expect(takeBatch(waiting, 2)).toHaveLength(3);
  expect(takeBatch(waiting, 1)).toHaveLength(2);
});
