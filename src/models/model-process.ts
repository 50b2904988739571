import { ServiceStopping, type DomainError } from '../errors/index.js';
import { RunnerLost, type OpenedModel, type RunnerEnd } from '../inference/index.js';
import { Incarnation } from './model-seat.js';
import { asLoadError, modelInUse } from './models.errors.js';
import type { MonotonicClock } from './monotonic-clock.js';
import { RetryBackoff } from './retry-backoff.js';

const LOSSES_TO_QUARANTINE = 3;

export interface ProcessSurroundings {
  readonly clock: MonotonicClock;
  /** Aborts when the service stops: no load starts from then on. */
  readonly stopping: AbortSignal;
  /** Verifies and opens the model; loads of all models run one at a time. `progress`: 0..1. */
  open(modelId: string, progress: (fraction: number) => void): Promise<OpenedModel>;
  /** The process died although nobody ended it. */
  lost(modelId: string, reason: string, stalled: boolean): void;
}

/** Hears what becomes of the process. */
export interface ProcessListener {
  opened(model: OpenedModel): void;
  /** A load has failed. */
  failed(error: DomainError): void;
  /** It died, or could not be loaded: it is gone, and waits a while. */
  dropped(): void;
  /** It may be begun again. */
  changed(): void;
  /** It was lost too often with no row to blame. */
  diedTooOften(): void;
}

/** The process of one model: begun, ended, and begun again after a while when it died. At most one at a time. */
export class ModelProcess {
  current: Incarnation | null = null;
  /** While it is being ended. */
  closing: Promise<void> | null = null;
  private readonly backoff = new RetryBackoff();
  /** Set while the model waits after a failure. */
  private cancelRetry: (() => void) | null = null;
  /** Losses in a row with no row to blame and no step on disk between them. */
  private blamelessLosses = 0;

  constructor(
    private readonly modelId: string,
    private readonly surroundings: ProcessSurroundings,
    private readonly listener: ProcessListener,
  ) {}

  get isStopping(): boolean {
    return this.surroundings.stopping.aborted;
  }

  /** There is none, and one may be begun. */
  get mayBegin(): boolean {
    return this.current === null && this.closing === null && this.cancelRetry === null && !this.isStopping;
  }

  /** Loaded, and nobody has a seat. */
  get isIdle(): boolean {
    return this.current !== null && this.current.opened !== null && this.current.seats === 0;
  }

  begin(): Incarnation {
    if (this.isStopping) throw new ServiceStopping();
    this.endRetry();
    this.current = new Incarnation((incarnation) => this.open(incarnation));
    return this.current;
  }

  /** Ends it; `closing` is set until `then` is done too. False: there is none. Throws model_in_use. */
  close(then?: () => Promise<void>): boolean {
    const incarnation = this.current;
    if (incarnation !== null && !this.isIdle) throw modelInUse(this.modelId);
    if (incarnation === null && then === undefined) return false;
    this.current = null;
    if (incarnation !== null) this.backoff.reset();
    const closed = incarnation?.opened?.close() ?? Promise.resolve();
    this.closing = closed.then(then).finally(() => {
      this.closing = null;
      this.listener.changed();
    });
    // Whoever waits for it hears of it.
    this.closing.catch(() => undefined);
    return incarnation !== null;
  }

  /** Ends it whoever uses it. To be called once `stopping` is aborted. */
  async stop(): Promise<void> {
    this.endRetry();
    await this.closing;
    const incarnation = this.current;
    this.current = null;
    // A load that is under way is being aborted, and closes what it may still open.
    if (incarnation?.opened) await incarnation.opened.close();
    else await incarnation?.model.catch(() => undefined);
  }

  /** A person asks for it: what has happened before does not count. */
  forgive(): void {
    this.blamelessLosses = 0;
  }

  private async open(incarnation: Incarnation): Promise<OpenedModel> {
    try {
      const model = await this.openTwice(incarnation);
      if (this.isStopping) {
        await model.close();
        throw new ServiceStopping();
      }
      this.opened(incarnation, model);
      return model;
    } catch (cause) {
      const error = this.isStopping ? new ServiceStopping() : asLoadError(this.modelId, cause);
      if (incarnation === this.current && !this.isStopping) this.drop(0);
      this.listener.failed(error);
      throw error;
    }
  }

  /** A process that dies while it loads gets a second try; who waits for the load stays (WIRE B4 row 15). */
  private async openTwice(incarnation: Incarnation): Promise<OpenedModel> {
    const open = (): Promise<OpenedModel> =>
      this.surroundings.open(this.modelId, (fraction) => incarnation.progressed(fraction));
    try {
      return await open();
    } catch (error) {
      if (!(error instanceof RunnerLost) || this.isStopping) throw error;
      incarnation.respawned();
      return open();
    }
  }

  private opened(incarnation: Incarnation, model: OpenedModel): void {
    const { clock } = this.surroundings;
    const since = clock.now();
    incarnation.opened = model;
    incarnation.openedAt = since;
    incarnation.loadedAt = Date.now();
    void model.gone.then((end) => {
      if (incarnation !== this.current || this.isStopping) return;
      this.surroundings.lost(this.modelId, end.message, end.stalled);
      this.countLoss(end);
      this.drop(clock.now() - since, end.progressed);
    });
    this.listener.opened(model);
  }

  /** A lone row is to blame for its loss; it is charged by the tasks module. */
  private countLoss({ blamed, progressed }: RunnerEnd): void {
    this.blamelessLosses = progressed || blamed ? 0 : this.blamelessLosses + 1;
    if (this.blamelessLosses >= LOSSES_TO_QUARANTINE) this.listener.diedTooOften();
  }

  /** The load failed or the process died: seats already given stay with the old incarnation, new ones wait a while. */
  private drop(livedMs: number, progressed = false): void {
    this.current = null;
    this.cancelRetry = this.surroundings.clock.after(this.backoff.next(livedMs, progressed), () => {
      this.endRetry();
      this.listener.changed();
    });
    this.listener.dropped();
  }

  private endRetry(): void {
    this.cancelRetry?.();
    this.cancelRetry = null;
  }
}
