import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { ModelSeat } from '../../../src/models/index.js';
import { MemoryLab, refusalOf } from './memory-lab.js';
import { taken } from './slot-lab.js';

const MB = 1_000_000;
/** Two models that do not fit together. */
const two = { budget: 300 * MB, models: { a: { bytes: 200 * MB }, b: { bytes: 150 * MB } } };

/** Gives the seat back when it comes. */
async function use(seat: Promise<ModelSeat>): Promise<void> {
  (await seat).release();
}

describe('a load that finds no room (ENGINE 4.10)', () => {
  it('takes the memory of an idle model at once', async () => {
    const lab = new MemoryLab(two);
    const first = lab.wait('a');
    await lab.open('a');
    await use(first);
    taken(lab.slot('b').takeSeat());
    expect(lab.unloaded).toEqual(['a: budget']);
    expect(lab.resident()).toEqual(['b']);
  });

  it('waits for a busy one, which keeps its rows, gets no new ones, and goes when they have ended', async () => {
    const lab = new MemoryLab(two);
    const held = lab.wait('a');
    const model = await lab.open('a');
    const waiting = lab.wait('b');
    expect(lab.memory.isWaiting('b')).toBe(true);
    const next = lab.wait('a');
    await nextTurn();
    expect([lab.resident(), model.closed]).toEqual([['a'], false]);
    await use(held);
    const seat = await waiting;
    expect([lab.resident(), model.closed, lab.memory.isWaiting('b')]).toEqual([['b'], true, false]);
    await lab.open('b');
    seat.release();
    const again = await next;
    expect(lab.resident()).toEqual(['a']);
    await lab.open('a');
    again.release();
    expect(lab.unloaded).toEqual(['a: budget', 'b: budget']);
  });

  it('has tasks stay queued: the claim side gets no seat, and is told when there is room', async () => {
    const lab = new MemoryLab(two);
    const held = lab.wait('a');
    await lab.open('a');
    expect(lab.slot('b').takeSeat()).toBeNull();
    expect(lab.told).toEqual([]);
    await use(held);
    await nextTurn();
    expect(lab.told).toEqual(['b']);
    const seat = taken(lab.slot('b').takeSeat());
    expect([seat.resident, lab.resident()]).toEqual([false, ['b']]);
  });

  it('gives its turn up when nobody comes for it, and the other model goes on', async () => {
    const lab = new MemoryLab(two);
    const held = lab.wait('a');
    await lab.open('a');
    lab.slot('b').takeSeat();
    const next = lab.wait('a');
    await use(held);
    await nextTurn();
    expect(lab.told).toEqual(['b']);
    lab.clock.advance(1000);
    (await next).release();
    expect([lab.memory.isWaiting('b'), lab.resident(), lab.unloaded]).toEqual([false, ['a'], []]);
  });

  it('does not hold the other model up when whoever waited has left', async () => {
    const lab = new MemoryLab(two);
    const held = lab.wait('a');
    await lab.open('a');
    const leaving = new AbortController();
    lab.slot('b').takeSeatUnlessAwaited();
    const left = lab.slot('b').join(leaving.signal, 'cli_b');
    const next = lab.wait('a');
    leaving.abort(new Error('client gone'));
    await expect(left).rejects.toThrow('client gone');
    (await next).release();
    await use(held);
    expect(lab.resident()).toEqual(['a']);
  });

  it('leaves a loaded model its turn', async () => {
    const lab = new MemoryLab({ ...two, turnMs: 5000 });
    const held = lab.wait('a');
    await lab.open('a');
    const waiting = lab.wait('b');
    const beside = await lab.wait('a');
    lab.clock.advance(5000);
    const later = lab.wait('a');
    for (const seat of [beside, await held]) seat.release();
    await waiting;
    expect(lab.resident()).toEqual(['b']);
    void later;
  });

  it('by hand waits as well', async () => {
    const lab = new MemoryLab(two);
    const held = lab.wait('a');
    await lab.open('a');
    const loads = [lab.slot('b').load(), lab.slot('b').load()];
    await nextTurn();
    expect(lab.resident()).toEqual(['a']);
    await use(held);
    await nextTurn();
    await lab.open('b');
    await Promise.all(loads);
    expect(lab.openingsOf('b')).toHaveLength(1);
  });

  it('is granted before a model that came later, and beside one that needs little', async () => {
    const lab = new MemoryLab({
      budget: 400 * MB,
      models: { a: { bytes: 250 * MB }, b: { bytes: 250 * MB }, c: { bytes: 200 * MB }, small: { bytes: 90 * MB } },
    });
    const held = lab.wait('a');
    await lab.open('a');
    const b = lab.wait('b');
    const c = lab.wait('c');
    const small = await lab.wait('small');
    expect(lab.resident()).toEqual(['a', 'small']);
    small.release();
    await use(held);
    await b;
    expect(lab.resident()).toContain('b');
    void c;
  });
});

describe('three clients on two models that do not fit together', () => {
  it('all come to their end; no busy model is ever ended, and neither model waits for more than one turn of the other', async () => {
    const lab = new MemoryLab({ ...two, rows: 1 });
    const served: string[] = [];
    let running = 0;
    const client = async (name: string, models: string[]): Promise<void> => {
      for (const id of models) {
        const seat = await lab.wait(id, name);
        running += 1;
        const model = await seat.model;
        await nextTurn();
        expect((model as unknown as { closed?: boolean }).closed ?? false).toBe(false);
        expect(lab.resident()).toEqual([id]);
        served.push(id);
        running -= 1;
        seat.release();
      }
    };
    const open = async (): Promise<void> => {
      while (served.length < 60) {
        await nextTurn();
        for (const { spec, succeed } of lab.engine.openings.splice(0)) {
          succeed({ residentBytes: lab.memory.estimate(spec.id) ?? 0 });
        }
        lab.clock.advance(100);
      }
    };
    const all = (id: string): string[] => Array.from({ length: 20 }, () => id);
    const mixed = all('a').map((id, i) => (i % 2 === 0 ? id : 'b'));
    await Promise.all([open(), client('cli_1', all('a')), client('cli_2', all('b')), client('cli_3', mixed)]);
    expect([served.length, running]).toEqual([60, 0]);
    expect(new Set(lab.unloaded)).toEqual(new Set(['a: budget', 'b: budget']));
    const longestRun = served.reduce(
      ({ run, longest }, id, i) => {
        const length = id === served[i - 1] ? run + 1 : 1;
        return { run: length, longest: Math.max(longest, length) };
      },
      { run: 0, longest: 0 },
    ).longest;
    expect(longestRun).toBeLessThan(20);
  });
});

describe('a model that can never be loaded', () => {
  const lab = new MemoryLab({
    budget: 300 * MB,
    models: { big: { bytes: 301 * MB }, kept: { bytes: 200 * MB, pinned: true }, half: { bytes: 150 * MB } },
  });
  const numbers = { code: 'insufficient_resources', param: 'model', retryAfterSeconds: 30 };

  it('is refused with the numbers at once: by hand, in the foreground, and to whoever claims its tasks', async () => {
    const refused = await refusalOf(lab.slot('big').load());
    expect(refused).toMatchObject(numbers);
    for (const number of ['301000000', '300000000', '200000000']) expect(refused.message).toContain(number);
    expect(() => lab.slot('big').takeSeatUnlessAwaited()).toThrow(refused.message);
    const seat = taken(lab.slot('big').takeSeat());
    await expect(seat.model).rejects.toMatchObject(numbers);
    expect(lab.slot('big').runtime).toBeNull();
  });

  it('is refused as well where pinned models leave too little, loaded or not', async () => {
    await expect(lab.slot('half').load()).rejects.toMatchObject(numbers);
    const load = lab.slot('kept').load();
    await lab.open('kept');
    await load;
    await expect(lab.slot('half').load()).rejects.toMatchObject(numbers);
    expect(lab.resident()).toEqual(['kept']);
  });
});

describe('what a model is counted for', () => {
  it('is its estimate, then what was measured: a process that has grown makes idle ones go', async () => {
    const lab = new MemoryLab({ budget: 300 * MB, models: { a: { bytes: 200 * MB }, b: { bytes: 100 * MB } } });
    const [a, b] = [lab.wait('a'), lab.wait('b')];
    expect(lab.memory.reservedBytes).toBe(300 * MB);
    await lab.open('a', 120 * MB);
    await lab.open('b', 90 * MB);
    expect(lab.memory.reservedBytes).toBe(210 * MB);
    await use(b);
    lab.memory.remeasured('a', 290 * MB);
    await nextTurn();
    expect([lab.resident(), lab.unloaded]).toEqual([['a'], ['b: budget']]);
    await use(a);
  });

  it('is what the last load took: a model that turned out small fits beside another the next time', async () => {
    const lab = new MemoryLab({ budget: 300 * MB, models: { a: { bytes: 200 * MB }, b: { bytes: 150 * MB } } });
    const a = lab.wait('a');
    await lab.open('a', 100 * MB);
    await use(a);
    await lab.slot('a').unload();
    const b = lab.wait('b');
    await lab.open('b', 150 * MB);
    await use(b);
    taken(lab.slot('a').takeSeat());
    expect(lab.resident()).toEqual(['a', 'b']);
  });
});
