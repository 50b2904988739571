import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { DomainError } from '../../../src/errors/index.js';
import { RunnerLost, type RunnerEnd } from '../../../src/inference/index.js';
import type { ModelSlot } from '../../../src/models/model-slot.js';
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
    const waiter = slot.join(new AbortController().signal, 'cli_a');
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
    const waiter = slot.join(new AbortController().signal, 'cli_a');
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
      model.die({ blamed: true });
      await nextTurn();
      pauses.push(...lab.clock.pending());
      lab.clock.advance(30_000);
    }
    expect(pauses).toEqual([250, 500, 1000, 250]);
  });
});

describe('a runner that dies while it loads (WIRE B4 row 15)', () => {
  it('is replaced once: who waits stays, with a new owner; the second time the load has failed', async () => {
    const slot = lab.slot(2);
    const seat = taken(slot.takeSeat());
    const { owner } = seat;
    lab.engine.last().fail(new RunnerLost('the runner ended with signal SIGKILL'));
    await nextTurn();
    expect(lab.engine.openings).toHaveLength(2);
    expect(seat.owner).not.toBe(owner);
    const other = taken(slot.takeSeat());
    expect(other.owner).toBe(seat.owner);
    lab.engine.last().fail(new RunnerLost('the runner ended with signal SIGKILL'));
    await expect(seat.model).rejects.toMatchObject({ code: 'model_load_failed' });
    await expect(other.model).rejects.toMatchObject({ code: 'model_load_failed' });
    expect(lab.engine.openings).toHaveLength(2);
  });

  it('a load that was refused is not tried again', async () => {
    const seat = taken(lab.slot(2).takeSeat());
    lab.engine.last().fail(new DomainError('model_load_failed', 'the graph is not supported'));
    await expect(seat.model).rejects.toMatchObject({ code: 'model_load_failed' });
    expect(lab.engine.openings).toHaveLength(1);
  });
});

describe('quarantine (WIRE B6)', () => {
  const die = async (slot: ModelSlot, end: Partial<RunnerEnd>): Promise<void> => {
    const loading = slot.load();
    await nextTurn();
    const model = lab.engine.last().succeed();
    await loading;
    model.die(end);
    await nextTurn();
  };
  const loseOnce = async (slot: ModelSlot, end: Partial<RunnerEnd>): Promise<void> => {
    lab.clock.advance(30_000);
    const seat = taken(slot.takeSeat());
    const model = lab.engine.last().succeed();
    await seat.model;
    model.die(end);
    await nextTurn();
  };

  it('follows three losses in a row with no row to blame and no step between: no seat until it is loaded by hand', async () => {
    const slot = lab.slot(2);
    for (let i = 0; i < 3; i += 1) await loseOnce(slot, {});
    expect(lab.quarantined).toEqual(['m']);
    expect(slot.isQuarantined).toBe(true);
    lab.clock.advance(60_000);
    expect(slot.takeSeat()).toBeNull();
    expect(() => slot.takeSeatUnlessAwaited()).toThrow(/POST \/v1\/models\/load/);
    await die(slot, {});
    expect(slot.isQuarantined, 'the count began anew').toBe(false);
  });

  it.each([
    ['a row that was alone', { blamed: true }],
    ['a step on disk', { progressed: true }],
  ])('%s in between begins the count anew', async (_, between) => {
    const slot = lab.slot(2);
    for (const end of [{}, {}, between, {}, {}]) await loseOnce(slot, end);
    expect(lab.quarantined).toEqual([]);
    await loseOnce(slot, {});
    expect(lab.quarantined).toEqual(['m']);
  });

  it('refuses those who wait in the foreground', async () => {
    const slot = lab.slot(1);
    const seat = taken(slot.takeSeat());
    const waiting = slot.join(new AbortController().signal, 'cli_a');
    slot.quarantine();
    await expect(waiting).rejects.toMatchObject({ code: 'model_unavailable' });
    seat.release();
  });

  it('a runner that made progress is replaced at once, however often it dies', async () => {
    const slot = lab.slot(1);
    const pauses: number[] = [];
    for (let i = 0; i < 4; i += 1) {
      await loseOnce(slot, { blamed: true, progressed: true });
      pauses.push(...lab.clock.pending());
    }
    expect(pauses).toEqual([250, 250, 250, 250]);
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
    const waiter = slot.join(new AbortController().signal, 'cli_a');
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
