import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { loadConfig } from '../../../src/config/index.js';
import { EventStreams } from '../../../src/http/index.js';
import { ForegroundOwnership, type Share } from '../../../src/responses/foreground-ownership.js';
import { TaskLab } from '../../support/task-lab.js';

const GRACE_SECONDS = 10;
const config = loadConfig({ LMSP_FOREGROUND_GRACE_SECONDS: String(GRACE_SECONDS) });

let lab: TaskLab;
let streams: EventStreams;
let ownership: ForegroundOwnership;
beforeEach(async () => {
  lab = await TaskLab.open();
  streams = new EventStreams(config);
  ownership = new ForegroundOwnership(lab.cancellation, streams, lab.notices, config);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(async () => {
  vi.useRealTimers();
  await lab.close();
});

const create = async (): Promise<string> => (await lab.create({ background: false })).id;

/** Status after whatever a timer or a closed connection has started: units run in the order of their submission. */
async function status(id: string): Promise<string> {
  await lab.write(() => Promise.resolve());
  return (await lab.task(id)).status;
}

const pass = (seconds: number): void => void vi.advanceTimersByTime(seconds * 1000);

describe('a foreground task that nobody waits for (WIRE B3)', () => {
  it('is cancelled at once without a key', async () => {
    const id = await create();
    ownership.join(id, false).leave(false);
    expect(await status(id)).toBe('cancelled');
  });

  it('is cancelled after the grace with a key, not before', async () => {
    const id = await create();
    ownership.join(id, true).leave(false);
    pass(GRACE_SECONDS - 1);
    expect(await status(id)).toBe('queued');
    pass(1);
    expect(await status(id)).toBe('cancelled');
  });

  it('gets the whole grace anew by each repeat that was told to come again', async () => {
    const id = await create();
    ownership.join(id, true).leave(false);
    for (let repeat = 0; repeat < 5; repeat++) {
      pass(GRACE_SECONDS - 1);
      ownership.renew(id);
    }
    expect(await status(id)).toBe('queued');
    pass(GRACE_SECONDS);
    expect(await status(id)).toBe('cancelled');
  });

  it('is left alone once it has ended, and by a stop', async () => {
    const [ended, stopped] = [await create(), await create()];
    ownership.join(ended, true).leave(true);
    pass(2 * GRACE_SECONDS);
    expect(await status(ended)).toBe('queued');
    ownership.join(stopped, true).leave(false);
    streams.closeReaders();
    pass(GRACE_SECONDS);
    expect(await status(stopped)).toBe('queued');
  });

  it('does not disturb anybody when it is gone or has ended otherwise', async () => {
    const faults: unknown[] = [];
    lab.notices.on('task.fault', (fault) => void faults.push(fault));
    const { id } = await lab.bring('completed', { background: false });
    ownership.join(id, false).leave(false);
    ownership.join('task_nobody', false).leave(false);
    ownership.renew('task_nobody');
    expect(await status(id)).toBe('completed');
    expect(faults).toEqual([]);
  });
});

type Command = { do: 'join' } | { do: 'leave' } | { do: 'renew' } | { do: 'pass'; seconds: number };

const command: fc.Arbitrary<Command> = fc.oneof(
  fc.constantFrom<Command>({ do: 'join' }, { do: 'leave' }, { do: 'renew' }),
  fc.record({ do: fc.constant('pass' as const), seconds: fc.integer({ min: 1, max: GRACE_SECONDS }) }),
);

it('whatever comes and goes, it is cancelled exactly when it was alone for the grace (WIRE B3)', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { maxLength: 20 }), async (commands) => {
      const id = await create();
      const shares: Share[] = [ownership.join(id, true)];
      let alone: number | null = null;
      let cancelled = false;
      for (const each of commands) {
        if (cancelled) break;
        if (each.do === 'join') {
          shares.push(ownership.join(id, true));
          alone = null;
        } else if (each.do === 'leave' && shares.length > 0) {
          shares.pop()?.leave(false);
          if (shares.length === 0) alone = 0;
        } else if (each.do === 'renew') {
          ownership.renew(id);
          if (alone !== null) alone = 0;
        } else if (each.do === 'pass') {
          pass(each.seconds);
          if (alone !== null) alone += each.seconds;
          cancelled = alone !== null && alone >= GRACE_SECONDS;
        }
        expect(await status(id)).toBe(cancelled ? 'cancelled' : 'queued');
      }
    }),
    { numRuns: 60 },
  );
});
