import { randomUUID } from 'node:crypto';
import type { EncoderModel, EngineModel, OpenedModel } from '../inference/index.js';
import { MeteredModel, type GenerationFigures } from './metered-model.js';
import type { ModelRuntime } from './model-object.js';
import { wrongKind } from './models.errors.js';

/** A held place among the rows of one load of a model; unload waits for it (HOUSE 6). */
export interface ModelSeat {
  /**
   * Incarnation of the process: new for every load and for every respawn, known from the load's start. It changes when
   * the process dies while it loads, and the load goes on in another.
   */
  readonly owner: string;
  /** True when the model was loaded as the seat was taken. */
  readonly resident: boolean;
  /** Rejects with DomainError: model_load_failed, model_not_found, insufficient_resources, server_shutting_down. */
  readonly model: Promise<EngineModel>;
  /** As `model`, of an embedding or rerank model: either rejects with unsupported_value where the model is of the other kind. */
  readonly encoder: Promise<EncoderModel>;
  /** Part of the load that is done, 0..1, and never less than before. */
  readonly loadFraction: number;
  /** How long the model is to stay loaded once nobody uses it, in seconds; -1: for ever; null: no wish. */
  keepLoaded(seconds: number | null): void;
  /** Idempotent. */
  release(): void;
}

interface SeatListener {
  released(): void;
  keepLoaded(seconds: number | null): void;
  /** Hears what each generation of the seat came to. */
  generated(figures: GenerationFigures): void;
}

/** A seat on a model that cannot be loaded, so that who takes it hears why. */
export function refusedSeat(error: Error): ModelSeat {
  const nothing = (): void => undefined;
  return new Incarnation(() => Promise.reject(error)).seat({
    released: nothing,
    keepLoaded: nothing,
    generated: nothing,
  });
}

/** One load of a model, from the moment it is asked for until its process is gone. */
export class Incarnation {
  /** Of the process; `respawned` says that another one goes on. */
  owner = randomUUID();
  /** Seats that are held. */
  seats = 0;
  /** The opened model; null while it is being loaded. */
  opened: OpenedModel | null = null;
  /** By the monotonic clock. */
  openedAt: number | null = null;
  /** A seat was given. */
  isUsed = false;
  /** Of the load, 0..1. */
  fraction = 0;
  /** Epoch milliseconds, for showing. */
  loadedAt: number | null = null;
  readonly model: Promise<OpenedModel>;

  constructor(open: (incarnation: Incarnation) => Promise<OpenedModel>) {
    this.model = open(this);
    // Each holder of a seat looks at the promise when it gets to it; a load nobody looks at is no crash.
    this.model.catch(() => undefined);
  }

  get runtime(): ModelRuntime {
    const provider = this.opened?.info.provider ?? null;
    return { state: this.opened === null ? 'loading' : 'loaded', loadedAt: this.loadedAt, provider };
  }

  /** A second process that begins anew takes nothing back of what was shown. */
  progressed(fraction: number): void {
    this.fraction = Math.max(this.fraction, Math.min(fraction, 1));
  }

  respawned(): void {
    this.owner = randomUUID();
  }

  seat(listener: SeatListener): ModelSeat {
    this.seats += 1;
    this.isUsed = true;
    const since = performance.now();
    const model = this.model.then(
      (opened) => new MeteredModel(textModel(opened), since, (figures) => listener.generated(figures)),
    );
    const encoder = this.model.then(encoderModel);
    // A holder looks at the one it needs.
    for (const kind of [model, encoder]) kind.catch(() => undefined);
    const owner = (): string => this.owner;
    const fraction = (): number => (this.opened === null ? this.fraction : 1);
    let held = true;
    return {
      get owner() {
        return owner();
      },
      resident: this.opened !== null,
      model,
      encoder,
      get loadFraction() {
        return fraction();
      },
      keepLoaded: (seconds) => listener.keepLoaded(seconds),
      release: () => {
        if (!held) return;
        held = false;
        this.seats -= 1;
        listener.released();
      },
    };
  }
}

function textModel(opened: OpenedModel): EngineModel {
  if ('generate' in opened) return opened as EngineModel;
  throw wrongKind('It makes no text.');
}

function encoderModel(opened: OpenedModel): EncoderModel {
  if ('encode' in opened) return opened as EncoderModel;
  throw wrongKind('It makes text.');
}
