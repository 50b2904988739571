/** What a client may ask of the model, always in the same words: each has a reference answer. */
export interface Job {
  name: string;
  /** Fields of the request that decide the answer. */
  request: { input: string; temperature: number; seed: number } & Record<string, unknown>;
  /** How often it is chosen. */
  weight: number;
}

const dog = 'I want a long story about a dog.';
const poem = 'Write a poem about the sea.';

/**
 * Short and long, greedy and drawn, ended by the model, by a limit (row 7) and by a stop string whose beginning is held
 * back, and one whose draw depends on all tokens before it.
 */
export const JOBS: readonly Job[] = [
  { name: 'sum', weight: 3, request: { input: 'What is 2 + 3?', temperature: 0, seed: 1 } },
  { name: 'list', weight: 3, request: { input: 'List ten animals.', temperature: 0, seed: 1 } },
  { name: 'poem', weight: 3, request: { input: poem, temperature: 0.8, seed: 8 } },
  { name: 'dog', weight: 4, request: { input: dog, temperature: 0, seed: 1 } },
  { name: 'drawn-dog', weight: 2, request: { input: dog, temperature: 0.8, seed: 8 } },
  { name: 'long-dog', weight: 1, request: { input: dog, temperature: 0.8, seed: 7 } },
  {
    name: 'count',
    weight: 2,
    request: { input: 'Count from 1 to 30.', temperature: 0, seed: 1, max_output_tokens: 70 },
  },
  {
    name: 'limited',
    weight: 2,
    request: { input: 'Write a long story.', temperature: 0.8, seed: 7, max_output_tokens: 160 },
  },
  {
    name: 'stopped',
    weight: 2,
    request: {
      input: 'Tell me a long story about a bear.',
      temperature: 0.8,
      seed: 7,
      stop: ['. One day Zoe', 'flute '],
    },
  },
  {
    name: 'penalised',
    weight: 2,
    request: {
      input: poem,
      temperature: 1.1,
      seed: 3,
      frequency_penalty: 0.6,
      repetition_penalty: 1.1,
      max_output_tokens: 120,
    },
  },
];

/** Labels name the job, so that whoever finds a task in the store knows what was asked: `dog#12`. */
export function jobOfLabel(label: string): string {
  return label.slice(0, label.indexOf('#'));
}
