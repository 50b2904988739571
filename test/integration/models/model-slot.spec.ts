import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { DomainError } from '../../../src/errors/index.js';
import { SlotLab, taken } from './slot-lab.js';

const failure = new DomainError('model_load_failed', 'cut file');

let lab: SlotLab;

beforeEach(() => {
  lab = new SlotLab();
});

describe('a load that fails', () => {
  it('is told to every seat and every waiter, and the next one waits twice as long each time', async () => {
    const slot = lab.slot(1);
    const seat = taken(slot.takeSeat());
    const waiter = slot.join(new AbortController().signal);
    lab.engine.last().fail(failure);
    await expect(seat.model).rejects.toBe(failure);
    await expect(waiter).rejects.toBe(failure);
    expect(slot.runtime).toBeNull();
    for (const delay of [250, 500, 1000]) {
      expect(slot.takeSeat()).toBeNull();
      expect(lab.clock.pending()).toEqual([delay]);
      lab.told.length = 0;
      lab.clock.advance(delay);
      expect(lab.told).toEqual(['m']);
      const again = taken(slot.takeSeat());
      lab.engine.last().fail(failure);
      await expect(again.model).rejects.toBe(failure);
    }
    expect(lab.engine.openings).toHaveLength(4);
  });

  it('does not keep an explicit load from trying at once', async () => {
    const slot = lab.slot(1);
    const seat = taken(slot.takeSeat());
    lab.engine.last().fail(failure);
    await expect(seat.model).rejects.toBe(failure);
    const load = slot.load();
    await nextTurn();
    lab.engine.last().succeed();
    await load;
    expect(lab.clock.pending()).toEqual([]);
    expect(taken(slot.takeSeat()).resident).toBe(true);
  });

  it('in words of its own is told as model_load_failed', async () => {
    const slot = lab.slot(1);
    const seat = taken(slot.takeSeat());
    lab.engine.last().fail(new TypeError('no such operator'));
    await expect(seat.model).rejects.toMatchObject({ code: 'model_load_failed' });
  });
});

describe('a runner that dies', () => {
  it('frees the place for a new incarnation after a while; seats of the old one no longer count', async () => {
    const slot = lab.slot(1);
    const old = taken(slot.takeSeat());
    const model = lab.engine.last().succeed();
    await old.model;
    const waiter = slot.join(new AbortController().signal);
    model.die();
    await nextTurn();
    expect(slot.takeSeat()).toBeNull();
    expect(slot.runtime).toBeNull();
    expect(lab.lost).toEqual(['m: killed by the test']);
    lab.clock.advance(250);
    const fresh = await waiter;
    expect([fresh.resident, fresh.owner === old.owner]).toEqual([false, false]);
    old.release();
    expect(slot.takeSeat()).toBeNull();
    lab.engine.last().succeed();
    await fresh.model;
    fresh.release();
    expect(lab.told).toEqual(['m']);
    expect(taken(slot.takeSeat()).owner).toBe(fresh.owner);
  });

  it('right after each load is loaded again ever more slowly; one that lived for a minute at once', async () => {
    const slot = lab.slot(1);
    const pauses: number[] = [];
    for (const livedMs of [0, 0, 0, 60_000]) {
      const seat = taken(slot.takeSeat());
      const model = lab.engine.last().succeed();
      await seat.model;
      lab.clock.advance(livedMs);
      model.die();
      await nextTurn();
      pauses.push(...lab.clock.pending());
      lab.clock.advance(30_000);
    }
    expect(pauses).toEqual([250, 500, 1000, 250]);
  });
});

describe('unload', () => {
  it('is refused with model_in_use while the model loads or a seat is held, then ends the process', async () => {
    const slot = lab.slot(2);
    const seat = taken(slot.takeSeat());
    await expect(slot.unload()).rejects.toMatchObject({ code: 'model_in_use' });
    const model = lab.engine.last().succeed();
    await seat.model;
    await expect(slot.unload()).rejects.toMatchObject({ code: 'model_in_use' });
    seat.release();
    const unloading = slot.unload();
    expect(slot.takeSeat()).toBeNull();
    await unloading;
    expect(model.closed).toBe(true);
    expect(lab.lost).toEqual([]);
    expect(lab.told).toEqual(['m']);
    expect(lab.clock.pending()).toEqual([]);
    expect(taken(slot.takeSeat()).owner).not.toBe(seat.owner);
  });

  it('forgets earlier failures', async () => {
    const slot = lab.slot(1);
    const load = slot.load();
    await nextTurn();
    lab.engine.last().fail(failure);
    await expect(load).rejects.toBe(failure);
    const again = slot.load();
    await nextTurn();
    lab.engine.last().succeed();
    await again;
    await slot.unload();
    const seat = taken(slot.takeSeat());
    lab.engine.last().fail(failure);
    await expect(seat.model).rejects.toBe(failure);
    expect(lab.clock.pending()).toEqual([250]);
  });

  it('of a model that is not loaded does nothing', async () => {
    expect(await lab.slot(1).unload()).toBe(false);
  });
});

describe('stop', () => {
  it('ends the process although seats are held, refuses those who wait, and loads nothing any more', async () => {
    const slot = lab.slot(1);
    const seat = taken(slot.takeSeat());
    const model = lab.engine.last().succeed();
    await seat.model;
    const waiter = slot.join(new AbortController().signal);
    lab.stopping.abort();
    await Promise.all([slot.stop(), expect(waiter).rejects.toMatchObject({ code: 'server_shutting_down' })]);
    expect(model.closed).toBe(true);
    expect(lab.lost).toEqual([]);
    expect(slot.takeSeat()).toBeNull();
    await expect(slot.load()).rejects.toMatchObject({ code: 'server_shutting_down' });
    expect(lab.engine.openings).toHaveLength(1);
    expect(lab.clock.pending()).toEqual([]);
  });

  it('aborts a load that is under way', async () => {
    const slot = lab.slot(1);
    const seat = taken(slot.takeSeat());
    lab.stopping.abort();
    await Promise.all([slot.stop(), expect(seat.model).rejects.toMatchObject({ code: 'server_shutting_down' })]);
    expect(slot.runtime).toBeNull();
  });
});
