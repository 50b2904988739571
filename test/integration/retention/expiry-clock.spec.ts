import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Notices } from '../../../src/notices/index.js';
import { ExpiryClock } from '../../../src/retention/index.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { openTestStore, type TestStore } from '../../support/store.js';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

let opened: TestStore;
let machine: FakeClock;
let held: number[];

beforeEach(async () => {
  opened = await openTestStore();
  machine = new FakeClock();
  held = [];
});

afterEach(() => opened.close());

/** What a start of the service does. */
async function start(): Promise<ExpiryClock> {
  const notices = new Notices();
  notices.on('expiry.held', ({ gap_ms: gap }) => void held.push(gap));
  const clock = new ExpiryClock(opened.store.units, machine, notices);
  await clock.onModuleInit();
  return clock;
}

/** Runs for so long as a service does: with a beat each minute. */
async function live(clock: ExpiryClock, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= MINUTE) {
    machine.run(Math.min(left, MINUTE));
    await clock.beat();
  }
}

describe('the clock of expiry (WIRE B6, Clock)', () => {
  it('expires nothing before the store has been asked', () => {
    expect(new ExpiryClock(opened.store.units, machine, new Notices()).now()).toBe(0);
  });

  it('is the wall clock in a new store and while the service runs', async () => {
    const clock = await start();
    expect(clock.now()).toBe(machine.wallMs());
    await live(clock, 3 * HOUR);
    expect(clock.now()).toBe(machine.wallMs());
    expect(held).toEqual([]);
  });

  it('stands still after a stop for as long as the stop was', async () => {
    await (await start()).stop();
    machine.run(10 * MINUTE);
    const clock = await start();
    expect([clock.now(), clock.heldMs()]).toEqual([0, 10 * MINUTE]);
    await live(clock, 10 * MINUTE - 1);
    expect(clock.now()).toBe(0);
    machine.run(1);
    expect(clock.now()).toBe(machine.wallMs());
  });

  it.each([8 * DAY, -8 * DAY, 30 * HOUR])(
    'stands still for an hour of running time at most: away for %i ms',
    async (away) => {
      await (await start()).stop();
      machine.jump(away);
      const clock = await start();
      expect(held).toEqual([Math.abs(away)]);
      await live(clock, HOUR - 1);
      expect(clock.now()).toBe(0);
      machine.run(1);
      expect(clock.now()).toBe(machine.wallMs());
    },
  );

  it('counts a kill from the last beat on', async () => {
    const killed = await start();
    await live(killed, 5 * MINUTE);
    machine.run(59 * SECOND);
    expect((await start()).heldMs()).toBe(59 * SECOND);
  });

  it.each([8 * DAY, -3 * HOUR])('sees a suspend or a set clock of %i ms at the very next question', async (jump) => {
    const clock = await start();
    await live(clock, HOUR);
    machine.jump(jump);
    expect([clock.now(), clock.heldMs()]).toEqual([0, HOUR]);
    expect(held).toEqual([Math.abs(jump)]);
  });

  it('sees a suspend in which the monotonic clock went on by the beat that is late', async () => {
    const clock = await start();
    machine.run(8 * DAY);
    expect([clock.now(), clock.heldMs()]).toEqual([0, HOUR]);
  });

  it('takes a difference of a minute for no gap, and adds small ones up', async () => {
    const clock = await start();
    machine.jump(MINUTE);
    expect(clock.now()).toBe(machine.wallMs());
    machine.jump(1);
    expect([clock.now(), clock.heldMs()]).toEqual([0, MINUTE + 1]);
  });

  it('keeps what is left of a hold over quick restarts', async () => {
    await (await start()).stop();
    machine.jump(8 * DAY);
    for (const left of [60, 50, 40].map((minutes) => minutes * MINUTE)) {
      const clock = await start();
      expect(clock.heldMs()).toBe(left);
      await live(clock, 10 * MINUTE);
      await clock.stop();
      machine.run(2 * SECOND);
    }
    expect((await start()).heldMs()).toBe(30 * MINUTE);
  });

  it('outlives a store that takes no writes', async () => {
    const clock = await start();
    await opened.store.close();
    await clock.beat();
    expect(clock.now()).toBe(machine.wallMs());
  });

  it('whatever happens: after a gap nothing expires for as long as it was, an hour at most (model)', async () => {
    const events = fc.array(
      fc.oneof(
        fc.record({ run: fc.integer({ min: 1, max: 90 * MINUTE }) }),
        fc.record({ jump: fc.integer({ min: -10 * DAY, max: 10 * DAY }).filter((ms) => Math.abs(ms) > MINUTE) }),
        fc.record({ away: fc.integer({ min: 0, max: 2 * DAY }) }),
      ),
      { maxLength: 12 },
    );
    await fc.assert(
      fc.asyncProperty(events, async (steps) => {
        await opened.store.units.run((tx) => tx.execute('DELETE FROM service_config'));
        let clock = await start();
        let left = 0;
        for (const step of steps) {
          if ('run' in step) {
            await live(clock, step.run);
            left = Math.max(0, left - step.run);
          } else if ('jump' in step) {
            machine.jump(step.jump);
            left = Math.max(left, Math.min(HOUR, Math.abs(step.jump)));
          } else {
            await clock.stop();
            machine.run(step.away);
            clock = await start();
            left = Math.max(left, Math.min(HOUR, step.away));
          }
          expect([clock.heldMs(), clock.now()]).toEqual([left, left > 0 ? 0 : machine.wallMs()]);
        }
      }),
      { numRuns: 40 },
    );
  });
});
