import { afterEach, describe, expect, it } from 'vitest';
import { CancelRace } from '../../support/cancel-race.js';

/** Five seeds of 500 lives with one or two cancels each, one store a seed. */
const SEEDS = [6, 7, 8, 9, 10];
const ROUNDS = 500;

let race: CancelRace;
afterEach(() => race.close());

describe('cancel against a whole life; answers at once (CASES BL-04, LMSP_CANCEL_WAIT_MS=0)', () => {
  it.each(SEEDS)(
    `R3: seed %i, ${ROUNDS} rounds: one end, and nothing but it follows an answer that says cancelling`,
    async (seed) => {
      race = await CancelRace.open(seed, 0);
      expect(await race.run(ROUNDS)).toEqual([]);
      // The race was one: the cancels came in every state, and every end was reached.
      expect([...race.seen.keys()].sort()).toEqual([
        'answer cancelled',
        'answer cancelling',
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
