import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DomainError } from '../../../src/errors/index.js';
import type { ModelSeat } from '../../../src/models/index.js';
import { ModelMemory } from '../../../src/models/model-memory.js';
import type { ModelRecord } from '../../../src/models/model-record.js';
import { ModelSlot } from '../../../src/models/model-slot.js';
import { ManualClock } from './manual-clock.js';
import { ManualEngine, type ManualModel, type Opening } from './manual-engine.js';

/** What a process takes without a model, as the estimate has it. */
const PROCESS_BYTES = 85_000_000;

export interface LabModel {
  /** Bytes of its estimate. */
  bytes: number;
  pinned?: boolean;
}

/** Models of known sizes in one memory; clock and engine are in the test's hands. */
export class MemoryLab {
  readonly clock = new ManualClock();
  readonly engine = new ManualEngine();
  readonly unloaded: string[] = [];
  /** Models whose claim side was told of a free seat. */
  readonly told: string[] = [];
  readonly memory: ModelMemory;
  private readonly slots = new Map<string, ModelSlot>();
  private readonly records = new Map<string, ModelRecord>();
  private readonly stopping = new AbortController();
  private readonly rows: number;
  private readonly turnMs: number;

  constructor(options: { budget: number; models: Record<string, LabModel>; rows?: number; turnMs?: number }) {
    this.rows = options.rows ?? 2;
    this.turnMs = options.turnMs ?? 0;
    for (const [id, model] of Object.entries(options.models)) this.records.set(id, recordOf(id, model));
    this.memory = new ModelMemory({
      budgetBytes: options.budget,
      turnMs: this.turnMs,
      rows: this.rows,
      clock: this.clock,
      record: (id) => this.records.get(id) ?? null,
      pinned: () => [...this.records.values()].filter(({ pinned }) => pinned),
      tenants: this.slots,
    });
    for (const id of this.records.keys()) this.slots.set(id, this.makeSlot(id));
  }

  slot(id: string): ModelSlot {
    const slot = this.slots.get(id);
    if (slot === undefined) throw new Error(`there is no model ${id}`);
    return slot;
  }

  /** Waits in the foreground, as `client`. */
  wait(id: string, client = 'cli_a'): Promise<ModelSeat> {
    const slot = this.slot(id);
    const seat = slot.takeSeatUnlessAwaited();
    return seat === null ? slot.join(new AbortController().signal, client) : Promise.resolve(seat);
  }

  /** Lets the load of the model succeed that was begun last; `residentBytes`: what its process then takes. */
  async open(id: string, residentBytes = this.memory.estimate(id) ?? 0): Promise<ManualModel> {
    await nextTurn();
    const opening = this.openingsOf(id).at(-1);
    if (opening === undefined) throw new Error(`${id} is not being loaded`);
    const model = opening.succeed({ residentBytes });
    await nextTurn();
    return model;
  }

  openingsOf(id: string): Opening[] {
    return this.engine.openings.filter(({ spec }) => spec.id === id);
  }

  /** Models that hold memory. */
  resident(): string[] {
    return [...this.slots].filter(([, { runtime }]) => runtime !== null).map(([id]) => id);
  }

  private makeSlot(id: string): ModelSlot {
    return new ModelSlot(id, {
      rows: this.rows,
      turnMs: this.turnMs,
      clock: this.clock,
      stopping: this.stopping.signal,
      memory: this.memory,
      keepAliveSeconds: () => -1,
      open: (modelId) =>
        this.engine.open(
          { id: modelId, directory: '/models', graphFile: 'model.onnx', rows: this.rows, threads: 1 },
          { signal: this.stopping.signal },
        ),
      unloaded: (modelId, reason) => void this.unloaded.push(`${modelId}: ${reason}`),
      lost: () => undefined,
      quarantined: () => undefined,
      generated: () => undefined,
      seatFree: (modelId) => void this.told.push(modelId),
    });
  }
}

/** The refusal of a load; throws when there is none. */
export async function refusalOf(work: Promise<unknown>): Promise<DomainError> {
  return work.then(
    () => {
      throw new Error('it was not refused');
    },
    (error: unknown) => error as DomainError,
  );
}

function recordOf(id: string, { bytes, pinned = false }: LabModel): ModelRecord {
  return {
    id,
    type: 'llm',
    directory: '/models',
    graphFile: 'model.onnx',
    state: 'available',
    error: null,
    digest: null,
    sizeBytes: bytes,
    activations: 'file',
    executionProvider: null,
    deviceId: null,
    contextLength: 64,
    embeddingDimensions: null,
    capabilities: [],
    aliases: [],
    ownedBy: 'local',
    embedded: false,
    createdAt: 0,
    quarantinedAt: null,
    pinned,
    keepAliveSeconds: null,
    weightsMemoryBytes: bytes - PROCESS_BYTES,
    kvTokenBytes: 0,
  };
}
