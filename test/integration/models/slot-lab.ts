import { ModelSlot } from '../../../src/models/model-slot.js';
import type { SlotSurroundings } from '../../../src/models/slot-surroundings.js';
import type { ModelSeat } from '../../../src/models/model-seat.js';
import { ManualClock } from './manual-clock.js';
import { ManualEngine } from './manual-engine.js';

const spec = { id: 'm', directory: '/models/m', graphFile: 'onnx/model.onnx', rows: 1, threads: 1 };

/** Memory that is never short. */
const ENDLESS: SlotSurroundings['memory'] = {
  ask: () => true,
  admit: () => undefined,
  isDraining: () => false,
  isWaiting: () => false,
  refusal: () => null,
  opened: () => undefined,
  remeasured: () => undefined,
  reconsider: () => undefined,
  estimate: () => null,
};

/** The place of a model `m` whose clock and engine are in the test's hands. */
export class SlotLab {
  readonly clock = new ManualClock();
  readonly engine = new ManualEngine();
  readonly stopping = new AbortController();
  /** One entry for each time the claim side was told of a free seat. */
  readonly told: string[] = [];
  readonly lost: string[] = [];
  readonly quarantined: string[] = [];

  readonly unloaded: string[] = [];
  keepAliveSeconds = -1;

  slot(rows: number, seatFree = (id: string) => void this.told.push(id)): ModelSlot {
    return new ModelSlot('m', {
      rows,
      turnMs: 0,
      memory: ENDLESS,
      keepAliveSeconds: () => this.keepAliveSeconds,
      unloaded: (id, reason) => void this.unloaded.push(`${id}: ${reason}`),
      clock: this.clock,
      stopping: this.stopping.signal,
      open: () => this.engine.open(spec, { signal: this.stopping.signal }),
      lost: (id, reason) => void this.lost.push(`${id}: ${reason}`),
      quarantined: (id) => void this.quarantined.push(id),
      generated: () => undefined,
      seatFree,
    });
  }
}

export function taken(seat: ModelSeat | null): ModelSeat {
  if (seat === null) throw new Error('no seat was given');
  return seat;
}
