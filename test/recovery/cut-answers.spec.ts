import { describe, expect, it } from 'vitest';
import { AnswerTrial, type TrialOptions } from './crash/answer-trial.js';

async function allEqual(options: Omit<TrialOptions, 'seed'>): Promise<void> {
  const figures = await AnswerTrial.run({ seed: 5, ...options });
  expect(figures.differences).toEqual([]);
  expect(figures.equal).toBe(figures.answers);
  expect(figures.resumed).toBeGreaterThan(0);
}

describe('answers that are cut off (R6, invariant 11, BL-27)', () => {
  it.each(['pocket', 'pocket-q4'] as const)(
    '%s: by SIGKILL of the service at random tokens: each equals the lone run that nobody killed',
    (model) => allEqual({ kills: 3, model, streams: 1, victim: 'service' }),
    300_000,
  );

  it(
    'held to a schema: cut in the middle of an object',
    () => allEqual({ kills: 2, model: 'pocket', streams: 1, victim: 'service', form: 'json' }),
    300_000,
  );

  it(
    'LMSP_BATCH_INVARIANT: eight at a time',
    () =>
      allEqual({
        kills: 2,
        model: 'pocket',
        streams: 8,
        victim: 'service',
        env: { LMSP_BATCH_INVARIANT: 'true' },
      }),
    300_000,
  );

  it(
    'WIRE B4 row 15: by SIGKILL of the model process under eight rows, each after a new step',
    () => allEqual({ kills: 6, model: 'pocket', streams: 8, victim: 'runner', env: { LMSP_BATCH_INVARIANT: 'true' } }),
    300_000,
  );
});
