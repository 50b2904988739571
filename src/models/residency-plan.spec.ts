import { describe, expect, it } from 'vitest';
import { Random } from '../../test/support/random.js';
import { bytesOf, planResidency, surplus, type Resident, type WantedModel } from './residency-plan.js';

const resident = (id: string, bytes: number, more: Partial<Resident> = {}): Resident => {
  return { id, bytes, busy: false, pinned: false, lastUsed: 0, ...more };
};
const wanted = (id: string, bytes: number): WantedModel => ({ id, bytes });

/** What the plan says of each, in short: `+` loads now, `…` waits; then the victims. */
function planned(budget: number, residents: Resident[], ...waiting: WantedModel[]): string[] {
  return [...planResidency(budget, residents, waiting)].map(
    ([id, { now, victims }]) => `${id}${now ? '+' : '…'}${victims.join(',')}`,
  );
}

describe('the plan for one model', () => {
  it.each<[string, Resident[], number, string]>([
    ['loads into free room and takes nobody from memory', [resident('a', 40)], 60, 'w+'],
    ['takes the idle model that was used least recently', idle(), 30, 'w+a'],
    ['takes as many idle ones as it needs, and no more', idle(), 50, 'w+a,b'],
    ['keeps small ones that a larger one makes needless', [resident('a', 10), resident('b', 80, used(2))], 70, 'w+b'],
    ['passes over pinned ones', [resident('a', 60, { pinned: true }), resident('b', 40, used(9))], 40, 'w+b'],
    [
      'takes the idle one rather than a busy one used longer ago',
      [busy('a', 50), resident('b', 50, used(9))],
      50,
      'w+b',
    ],
    ['waits for a busy one, and never takes it', [busy('a', 60), busy('b', 40, 5)], 50, 'w…a'],
    ['waits for the busy one alone where it makes room enough', [busy('a', 90), resident('b', 10)], 80, 'w…a'],
    ['names idle and busy ones where it needs both', [busy('a', 50), resident('b', 50)], 80, 'w…b,a'],
    ['finds nobody where all are pinned', [resident('a', 60, { pinned: true })], 60, 'w…'],
    [
      'has no victims where even all of them are too few',
      [resident('a', 60, { pinned: true }), busy('b', 20)],
      50,
      'w…',
    ],
  ])('%s', (_, residents, bytes, expected) => {
    expect(planned(100, residents, wanted('w', bytes))).toEqual([expected]);
  });

  function used(lastUsed: number): Partial<Resident> {
    return { lastUsed };
  }
  function busy(id: string, bytes: number, lastUsed = 0): Resident {
    return resident(id, bytes, { busy: true, lastUsed });
  }
  function idle(): Resident[] {
    return [resident('c', 30, used(3)), resident('a', 30, used(1)), resident('b', 30, used(2))];
  }
});

describe('the plan for several models', () => {
  const a = resident('a', 60, { busy: true });

  it('lets a later one have what the first does not need', () => {
    expect(planned(100, [a], wanted('first', 80), wanted('small', 20))).toEqual(['first…a', 'small+']);
  });

  it('lets no later one take what the first waits for, though it is free by now', () => {
    expect(planned(100, [a], wanted('first', 80), wanted('later', 30))).toEqual(['first…a', 'later…']);
  });

  it('has them loaded together where both fit', () => {
    expect(planned(100, [resident('old', 90)], wanted('x', 40), wanted('y', 50))).toEqual(['x+old', 'y+']);
  });

  it('gives each victims of its own', () => {
    const residents = [resident('a', 50, { busy: true }), resident('b', 50, { busy: true, lastUsed: 1 })];
    expect(planned(100, residents, wanted('x', 50), wanted('y', 50))).toEqual(['x…a', 'y…b']);
  });
});

describe('a surplus', () => {
  it('is unloaded least recently used first, idle ones only, as far as they go', () => {
    const residents = [
      resident('new', 30, { lastUsed: 9 }),
      resident('old', 30, { lastUsed: 1 }),
      resident('busy', 30, { busy: true }),
      resident('kept', 30, { pinned: true }),
    ];
    expect(surplus(120, residents)).toEqual([]);
    expect(surplus(100, residents)).toEqual(['old']);
    expect(surplus(10, residents)).toEqual(['old', 'new']);
  });
});

describe('in 30 random worlds', () => {
  const BUDGET = 100;
  const ROUNDS = 200;

  it('no busy or pinned model goes, the budget holds, and everyone who waits has a turn', () => {
    for (let seed = 1; seed <= 30; seed += 1) expect(simulate(new Random(seed)), `seed ${seed}`).toBeLessThan(100);
  });

  /** Returns the longest wait, in rounds. Work ends by chance; who waits comes by chance, as often as it can. */
  function simulate(random: Random): number {
    const sizes = new Map(Array.from({ length: 5 }, (_, i) => [`m${i}`, random.between(5, 80)]));
    let residents: Resident[] = random.chance(0.3) ? [resident('pin', 20, { pinned: true })] : [];
    let waiting: (WantedModel & { since: number })[] = [];
    let longest = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [id, bytes] of sizes) {
        if ([...residents, ...waiting].some((each) => each.id === id) || random.chance(0.3)) continue;
        waiting.push({ id, bytes, since: round });
      }
      const plan = planResidency(BUDGET, residents, waiting);
      const drained = new Set([...plan.values()].flatMap(({ victims }) => victims));
      for (const one of [...waiting]) {
        const { now, victims } = plan.get(one.id)!;
        if (!now) continue;
        const gone = residents.filter(({ id }) => victims.includes(id));
        expect(gone.filter(({ busy, pinned }) => busy || pinned)).toEqual([]);
        residents = [
          ...residents.filter((each) => !gone.includes(each)),
          { ...resident(one.id, one.bytes), busy: true },
        ];
        waiting = waiting.filter((each) => each !== one);
        longest = Math.max(longest, round - one.since);
      }
      expect(bytesOf(residents)).toBeLessThanOrEqual(BUDGET);
      residents = residents.map((each) => {
        if (each.pinned) return each;
        // Rows end sooner or later; new ones begin unless the model makes room.
        const busy = drained.has(each.id) ? each.busy && random.chance(0.8) : random.chance(0.9);
        return { ...each, busy, lastUsed: each.busy ? round : each.lastUsed };
      });
    }
    return Math.max(longest, ...waiting.map(({ since }) => ROUNDS - since));
  }
});
