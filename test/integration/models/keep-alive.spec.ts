import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ModelSlot } from '../../../src/models/model-slot.js';
import { SlotLab, taken } from './slot-lab.js';

const DAY_MS = 86_400_000;

let lab: SlotLab;

beforeEach(() => {
  lab = new SlotLab();
});

/** Uses the model once; `wish`: `keep_alive_seconds` of the request. */
async function use(slot: ModelSlot, wish: number | null = null): Promise<void> {
  const seat = taken(slot.takeSeat());
  if (!seat.resident) lab.engine.last().succeed();
  seat.keepLoaded(wish);
  await seat.model;
  seat.release();
}

async function load(slot: ModelSlot): Promise<void> {
  const loading = slot.load();
  await nextTurn();
  lab.engine.last().succeed();
  await loading;
}

describe('a model that nobody uses any more (WIRE B3 keep_alive_seconds)', () => {
  it('is unloaded when its time is over, and not before; what uses it in between begins the time anew', async () => {
    lab.keepAliveSeconds = 300;
    const slot = lab.slot(1);
    await use(slot);
    lab.clock.advance(299_000);
    await use(slot);
    expect(slot.usage.unloadsAt).toBeGreaterThan(Date.now() + 299_000);
    lab.clock.advance(299_999);
    expect(slot.runtime?.state).toBe('loaded');
    lab.clock.advance(1);
    expect([slot.runtime, slot.usage.unloadsAt, lab.unloaded]).toEqual([null, null, ['m: idle']]);
  });

  it('counts from the end of its last row, however long that took', async () => {
    lab.keepAliveSeconds = 1;
    const slot = lab.slot(2);
    await use(slot);
    const seat = taken(slot.takeSeat());
    lab.clock.advance(DAY_MS);
    expect([slot.runtime?.state, slot.usage.unloadsAt]).toEqual(['loaded', null]);
    seat.release();
    lab.clock.advance(1000);
    expect(slot.runtime).toBeNull();
  });

  it('goes at once with 0, unless somebody is on the way to it', async () => {
    lab.keepAliveSeconds = 0;
    const slot = lab.slot(1);
    await use(slot);
    lab.clock.advance(0);
    expect(slot.runtime).toBeNull();
    await nextTurn();
    const seat = taken(slot.takeSeat());
    lab.engine.last().succeed();
    await seat.model;
    expect(slot.takeSeat()).toBeNull();
    seat.release();
    lab.clock.advance(0);
    expect(slot.runtime?.state, 'the claim side was told of the seat').toBe('loaded');
    lab.clock.advance(200);
    expect(slot.runtime).toBeNull();
  });

  it('stays for ever with -1', async () => {
    const slot = lab.slot(1);
    await use(slot);
    lab.clock.advance(400 * DAY_MS);
    expect([slot.runtime?.state, slot.usage.unloadsAt]).toEqual(['loaded', null]);
  });

  it('stays as long as the last request wished that named a time, over the time of the model', async () => {
    lab.keepAliveSeconds = 300;
    const slot = lab.slot(1);
    await use(slot, -1);
    await use(slot);
    lab.clock.advance(DAY_MS);
    expect(slot.runtime?.state).toBe('loaded');
    await use(slot, 5);
    lab.clock.advance(5000);
    expect(slot.runtime).toBeNull();
    await nextTurn();
    await use(slot);
    lab.clock.advance(299_999);
    expect(slot.runtime?.state, 'a wish ends with the load it was made for').toBe('loaded');
    lab.clock.advance(1);
    expect(slot.runtime).toBeNull();
  });

  it('stays so long after a load by hand that no request followed', async () => {
    lab.keepAliveSeconds = 10;
    const slot = lab.slot(1);
    await load(slot);
    slot.keepLoaded(20);
    lab.clock.advance(19_999);
    expect(slot.runtime?.state).toBe('loaded');
    lab.clock.advance(1);
    expect(slot.runtime).toBeNull();
  });
});
