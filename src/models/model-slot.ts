import { ServiceStopping } from '../errors/index.js';
import {
  RunnerLost,
  type EngineActivity,
  type ExactPromises,
  type OpenedModel,
  type RunnerEnd,
} from '../inference/index.js';
import type { GenerationFigures } from './metered-model.js';
import type { ModelRuntime } from './model-object.js';
import { Incarnation, type ModelSeat } from './model-seat.js';
import { asLoadError, modelInUse, modelQuarantined } from './models.errors.js';
import type { MonotonicClock } from './monotonic-clock.js';
import { RetryBackoff } from './retry-backoff.js';
import { SeatQueue } from './seat-queue.js';

/** How long a free seat is kept for the claim side when it is its turn: a claim has to look into the store first. */
const OFFER_MS = 100;
const LOSSES_TO_QUARANTINE = 3;

export interface SlotSurroundings {
  /** Seats per incarnation; 0: none are given. */
  readonly rows: number;
  readonly clock: MonotonicClock;
  /** Aborts when the service stops: no load starts and no seat is given from then on. */
  readonly stopping: AbortSignal;
  /** Verifies and opens the model; loads of all models run one at a time. */
  open(modelId: string): Promise<OpenedModel>;
  /** The process died although nobody ended it. */
  lost(modelId: string, reason: string, stalled: boolean): void;
  /** It died so once too often, and no row is to blame: nothing is to be loaded until a person says so. */
  quarantined(modelId: string): void;
  generated(modelId: string, figures: GenerationFigures): void;
  /** A seat that was refused to the claim side may be had now. */
  seatFree(modelId: string): void;
}

/**
 * The place where one model is loaded: at most one incarnation at a time, its seats, and those who wait for one.
 * Foreground requests wait in a queue of their own; the claim side is told and comes back. While both want seats they
 * get them in turn.
 */
export class ModelSlot {
  /** As measured by the last load. */
  exact: ExactPromises | null = null;
  private current: Incarnation | null = null;
  private closing: Promise<void> | null = null;
  private readonly queue = new SeatQueue();
  private readonly backoff = new RetryBackoff();
  /** Set while the model waits after a failure. */
  private cancelRetry: (() => void) | null = null;
  /** The claim side was refused a seat and has not been told of a free one since. */
  private claimsRefused = false;
  private lastServed: 'claims' | 'queue' = 'queue';
  /** Set while a seat is kept for the claim side. */
  private cancelOffer: (() => void) | null = null;
  private inQuarantine = false;
  /** Losses in a row with no row to blame and no step on disk between them. */
  private blamelessLosses = 0;

  constructor(
    readonly modelId: string,
    private readonly surroundings: SlotSurroundings,
  ) {}

  get runtime(): ModelRuntime | null {
    return this.current?.runtime ?? null;
  }

  get isQuarantined(): boolean {
    return this.inQuarantine;
  }

  /** Of the loaded model; null: it is not loaded. */
  activity(): Promise<EngineActivity> | null {
    return this.current?.opened?.activity() ?? null;
  }

  get waiting(): number {
    return this.queue.length;
  }

  waitingOf(clientId: string): number {
    return this.queue.lengthOf(clientId);
  }

  /** For the claim side. Null: told by seatFree when it is worth another try. */
  takeSeat(): ModelSeat | null {
    this.claimsRefused = !this.hasRoom();
    if (this.claimsRefused) return null;
    this.lastServed = 'claims';
    const seat = this.take();
    this.endOffer();
    return seat;
  }

  /** Lost too often: no seat is given until `load` ends it (WIRE B6). */
  quarantine(): void {
    this.inQuarantine = true;
    this.queue.refuseAll(modelQuarantined(this.modelId));
    // The claim side looks again, and hears why there is no seat.
    this.tellClaims();
  }

  /** For foreground work: a free seat at once if nobody is before it; null: `join` the queue. */
  takeSeatUnlessAwaited(): ModelSeat | null {
    if (this.inQuarantine) throw modelQuarantined(this.modelId);
    if (this.queue.length > 0 || this.cancelOffer !== null || !this.hasRoom()) return null;
    this.lastServed = 'queue';
    return this.take();
  }

  /** Rejects when a load fails meanwhile, and with the signal's reason. */
  join(signal: AbortSignal, clientId: string): Promise<ModelSeat> {
    return this.queue.join(signal, clientId);
  }

  /** Resolves when the model is loaded. An explicit load does not wait for the backoff of an earlier failure. */
  async load(): Promise<void> {
    await this.closing;
    this.inQuarantine = false;
    this.blamelessLosses = 0;
    const incarnation = this.current ?? this.begin();
    this.distribute();
    await incarnation.model;
  }

  /** Ends the model's process; false if there is none. Gives no seat until `then` is done. Throws model_in_use. */
  async unload(then?: () => Promise<void>): Promise<boolean> {
    if (this.closing !== null) await this.closing;
    const incarnation = this.current;
    if (incarnation === null && then === undefined) return false;
    if (incarnation !== null && (incarnation.opened === null || incarnation.seats > 0)) throw modelInUse(this.modelId);
    this.current = null;
    if (incarnation !== null) this.backoff.reset();
    const closed = incarnation?.opened?.close() ?? Promise.resolve();
    this.closing = closed.then(then).finally(() => {
      this.closing = null;
      this.distribute();
    });
    await this.closing;
    return incarnation !== null;
  }

  /** Ends the process whoever uses it. To be called once `stopping` is aborted. */
  async stop(): Promise<void> {
    this.endRetry();
    this.queue.refuseAll(new ServiceStopping());
    await this.closing;
    const incarnation = this.current;
    this.current = null;
    // A load that is under way is being aborted, and closes what it may still open.
    if (incarnation?.opened) await incarnation.opened.close();
    else await incarnation?.model.catch(() => undefined);
  }

  private get stopping(): boolean {
    return this.surroundings.stopping.aborted;
  }

  private hasRoom(): boolean {
    if (this.stopping || this.closing !== null || this.inQuarantine) return false;
    if (this.current === null) return this.surroundings.rows > 0 && this.cancelRetry === null;
    return this.current.seats < this.surroundings.rows;
  }

  private take(): ModelSeat {
    const incarnation = this.current ?? this.begin();
    return incarnation.seat(
      () => this.distribute(),
      (figures) => this.surroundings.generated(this.modelId, figures),
    );
  }

  private begin(): Incarnation {
    if (this.stopping) throw new ServiceStopping();
    this.endRetry();
    this.current = new Incarnation((incarnation) => this.open(incarnation));
    return this.current;
  }

  private async open(incarnation: Incarnation): Promise<OpenedModel> {
    try {
      const model = await this.openTwice(incarnation);
      if (this.stopping) {
        await model.close();
        throw new ServiceStopping();
      }
      this.opened(incarnation, model);
      return model;
    } catch (cause) {
      const error = this.stopping ? new ServiceStopping() : asLoadError(this.modelId, cause);
      if (incarnation === this.current && !this.stopping) this.dropCurrent(0);
      this.queue.refuseAll(error);
      throw error;
    }
  }

  /** A process that dies while it loads gets a second try; who waits for the load stays (WIRE B4 row 15). */
  private async openTwice(incarnation: Incarnation): Promise<OpenedModel> {
    try {
      return await this.surroundings.open(this.modelId);
    } catch (error) {
      if (!(error instanceof RunnerLost) || this.stopping) throw error;
      incarnation.respawned();
      return this.surroundings.open(this.modelId);
    }
  }

  private opened(incarnation: Incarnation, model: OpenedModel): void {
    const { clock } = this.surroundings;
    const since = clock.now();
    this.exact = model.info.exact;
    incarnation.opened = model;
    incarnation.loadedAt = Date.now();
    void model.gone.then((end) => {
      if (incarnation !== this.current || this.stopping) return;
      this.surroundings.lost(this.modelId, end.message, end.stalled);
      this.countLoss(end);
      this.dropCurrent(clock.now() - since, end.progressed);
    });
  }

  /** A lone row is to blame for its loss; it is charged by the tasks module. */
  private countLoss({ blamed, progressed }: RunnerEnd): void {
    this.blamelessLosses = progressed || blamed ? 0 : this.blamelessLosses + 1;
    if (this.blamelessLosses < LOSSES_TO_QUARANTINE) return;
    this.quarantine();
    this.surroundings.quarantined(this.modelId);
  }

  /** The load failed or the process died: seats already given stay with the old incarnation, new ones wait a while. */
  private dropCurrent(livedMs: number, progressed = false): void {
    this.current = null;
    this.cancelRetry = this.surroundings.clock.after(this.backoff.next(livedMs, progressed), () => {
      this.endRetry();
      this.distribute();
    });
  }

  private endRetry(): void {
    this.cancelRetry?.();
    this.cancelRetry = null;
  }

  /** Gives free seats to those who wait: the queue and the claim side in turn. */
  private distribute(): void {
    while (this.hasRoom() && this.cancelOffer === null) {
      if (this.claimsRefused && this.lastServed === 'queue') return this.offerToClaims();
      if (this.queue.length === 0) return this.tellClaims();
      this.lastServed = 'queue';
      this.queue.serve(this.take());
    }
  }

  private tellClaims(): void {
    if (!this.claimsRefused) return;
    this.claimsRefused = false;
    this.surroundings.seatFree(this.modelId);
  }

  private offerToClaims(): void {
    this.cancelOffer = this.surroundings.clock.after(OFFER_MS, () => {
      // Not taken: there was nothing to claim after all.
      this.lastServed = 'claims';
      this.endOffer();
    });
    this.tellClaims();
  }

  private endOffer(): void {
    if (this.cancelOffer === null) return;
    this.cancelOffer();
    this.cancelOffer = null;
    this.distribute();
  }
}
