import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ModelSeat } from '../../../src/models/index.js';
import type { ModelSlot } from '../../../src/models/model-slot.js';
import { SlotLab, taken } from './slot-lab.js';

let lab: SlotLab;

beforeEach(() => {
  lab = new SlotLab();
});

/** Joins the queue; `log` gets the name when the seat comes. */
function wait(slot: ModelSlot, name: string, log: string[], client = 'cli_a'): Promise<ModelSeat> {
  return slot.join(new AbortController().signal, client).then((seat) => {
    log.push(name);
    return seat;
  });
}

describe('seats of a model', () => {
  it('are at most as many as rows, also while the model is loading', async () => {
    const slot = lab.slot(2);
    const first = taken(slot.takeSeat());
    const second = taken(slot.takeSeat());
    expect(slot.takeSeat()).toBeNull();
    expect(lab.engine.openings).toHaveLength(1);
    expect([first.resident, second.resident]).toEqual([false, false]);
    lab.engine.last().succeed();
    expect((await first.model).incarnation).toBe((await second.model).incarnation);
    first.release();
    expect(taken(slot.takeSeat()).resident).toBe(true);
  });

  it('count once however often they are released', async () => {
    const slot = lab.slot(1);
    const seat = taken(slot.takeSeat());
    seat.release();
    taken(slot.takeSeat());
    seat.release();
    expect(slot.takeSeat()).toBeNull();
  });

  it('are not given at all with 0 rows, while a load by hand works', async () => {
    const slot = lab.slot(0);
    expect(slot.takeSeat()).toBeNull();
    const load = slot.load();
    await nextTurn();
    lab.engine.last().succeed();
    await load;
    expect(slot.runtime?.state).toBe('loaded');
    expect(slot.takeSeat()).toBeNull();
  });

  it('wake the claim side once after it was refused, and not for a seat it gave back unused', () => {
    const slot = lab.slot(1);
    const seat = taken(slot.takeSeat());
    slot.takeSeat();
    seat.release();
    expect(lab.told).toEqual(['m']);
    taken(slot.takeSeat()).release();
    expect(lab.told).toEqual(['m']);
  });
});

describe('foreground requests beside claims', () => {
  it('are served in the order they came', async () => {
    const slot = lab.slot(1);
    const order: string[] = [];
    const holder = taken(slot.takeSeatUnlessAwaited());
    const waiting = ['a', 'b', 'c'].map((name) => wait(slot, name, order));
    holder.release();
    for (const seat of waiting) (await seat).release();
    expect(order).toEqual(['a', 'b', 'c']);
  });

  it('of several clients are served in turn, each client’s own in the order they came', async () => {
    const slot = lab.slot(1);
    const order: string[] = [];
    const holder = taken(slot.takeSeatUnlessAwaited());
    const waiting = ['a1', 'a2', 'a3', 'b1', 'c1', 'b2'].map((name) => wait(slot, name, order, name.charAt(0)));
    holder.release();
    await Promise.all(waiting.map(async (seat) => (await seat).release()));
    expect(order).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
    expect(slot.queue.length).toBe(0);
  });

  it('and claims get seats in turn while both want them, so that neither starves', async () => {
    const order: string[] = [];
    let claim: ModelSeat | null = null;
    const slot = lab.slot(1, () => {
      // As the runner of tasks does: not at once, but after it has looked around.
      queueMicrotask(() => {
        claim = slot.takeSeat();
        if (claim !== null) order.push('claim');
        slot.takeSeat();
      });
    });
    const holder = taken(slot.takeSeat());
    slot.takeSeat();
    const waiting = ['a', 'b', 'c'].map((name) => wait(slot, name, order));
    holder.release();
    for (const seat of waiting) {
      (await seat).release();
      await nextTurn();
      (claim as ModelSeat | null)?.release();
    }
    expect(order).toEqual(['a', 'claim', 'b', 'claim', 'c', 'claim']);
  });

  it('get the seat that was kept for a claim side that does not come', async () => {
    const slot = lab.slot(1);
    const order: string[] = [];
    const first = taken(slot.takeSeatUnlessAwaited());
    slot.takeSeat();
    const waiter = wait(slot, 'a', order);
    first.release();
    expect(lab.told).toEqual(['m']);
    await nextTurn();
    expect(order).toEqual([]);
    expect(slot.takeSeatUnlessAwaited()).toBeNull();
    lab.clock.advance(100);
    await waiter;
    expect(order).toEqual(['a']);
  });

  it('that arrive while a seat is kept for the claim side come after it', async () => {
    const slot = lab.slot(1);
    const holder = taken(slot.takeSeatUnlessAwaited());
    slot.takeSeat();
    holder.release();
    expect(slot.takeSeatUnlessAwaited()).toBeNull();
    const claim = taken(slot.takeSeat());
    const order: string[] = [];
    const waiter = wait(slot, 'a', order);
    claim.release();
    await waiter;
  });

  it('leave the queue when they are aborted, and the next one is served', async () => {
    const slot = lab.slot(1);
    const holder = taken(slot.takeSeat());
    const leaving = new AbortController();
    const aborted = slot.join(leaving.signal, 'cli_a');
    const order: string[] = [];
    const next = wait(slot, 'next', order);
    leaving.abort(new Error('client gone'));
    await expect(aborted).rejects.toThrow('client gone');
    expect(slot.queue.length).toBe(1);
    holder.release();
    await next;
  });
});
