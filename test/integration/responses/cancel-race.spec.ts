import { afterEach, describe, expect, it } from 'vitest';
import { CancelRace } from '../../support/cancel-race.js';

/** Five seeds of 500 lives with one or two cancels each, one store a seed. */
const SEEDS = [1, 2, 3, 4, 5];
const ROUNDS = 500;

let race: CancelRace;
afterEach(() => race.close());

describe('cancel against a whole life; answers wait for the end (CASES BL-04)', () => {
  it.each(SEEDS)(
    `R3: seed %i, ${ROUNDS} rounds: one end, every answer agrees with it, nothing after an answered cancel`,
    async (seed) => {
      race = await CancelRace.open(seed, 20_000);
      expect(await race.run(ROUNDS)).toEqual([]);
      // The race was one: the cancels came in every state, and every end was reached.
      expect([...race.seen.keys()].sort()).toEqual([
        'answer cancelled',
        'answer refused',
        'ended cancelled',
        'ended completed',
        'ended failed',
        'found loading',
        'found queued',
        'found running',
      ]);
    },
    60_000,
  );
});
