import { ServiceStopping, type DomainError } from '../errors/index.js';
import type { EngineActivity, ExactPromises, OpenedModel } from '../inference/index.js';
import { ClaimsSide } from './claims-side.js';
import { LoadCalls } from './load-calls.js';
import type { Occupancy, Tenant } from './model-memory.js';
import type { ModelRuntime } from './model-object.js';
import { ModelProcess } from './model-process.js';
import { refusedSeat, type Incarnation, type ModelSeat } from './model-seat.js';
import { ModelUsage } from './model-usage.js';
import { modelNotFound, modelQuarantined } from './models.errors.js';
import { SeatQueue } from './seat-queue.js';
import type { SlotSurroundings, UnloadReason } from './slot-surroundings.js';

/** Whoever a model was loaded for comes within this time; until then nobody else takes its memory. */
const FIRST_SEAT_MS = 1000;

/**
 * The place where one model is loaded: at most one incarnation at a time, its seats, and those who wait for one.
 * Foreground requests wait in a queue of their own; the claim side is told and comes back. While both want seats they
 * get them in turn. Without room in memory both wait, and the model stands in the line for it.
 */
export class ModelSlot implements Tenant {
  /** As measured by the last load. */
  exact: ExactPromises | null = null;
  /** Foreground requests that wait for a seat. */
  readonly queue = new SeatQueue();
  readonly usage: ModelUsage;
  private readonly process: ModelProcess;
  private readonly claims: ClaimsSide;
  private readonly loads = new LoadCalls();
  private lastServed: 'claims' | 'queue' = 'queue';
  private inQuarantine = false;

  constructor(
    readonly modelId: string,
    private readonly surroundings: SlotSurroundings,
  ) {
    const { clock, memory } = surroundings;
    this.claims = new ClaimsSide(clock, () => surroundings.seatFree(modelId));
    this.usage = new ModelUsage({
      clock,
      keepAliveSeconds: () => surroundings.keepAliveSeconds(modelId),
      expired: () => this.end('idle'),
      measured: (bytes) => memory.remeasured(modelId, bytes),
    });
    this.process = new ModelProcess(modelId, surroundings, {
      opened: (model) => this.opened(model),
      failed: (error) => this.queue.refuseAll(error),
      dropped: () => {
        this.usage.unloaded();
        memory.reconsider();
      },
      changed: () => {
        this.distribute();
        memory.reconsider();
      },
      diedTooOften: () => {
        this.quarantine();
        surroundings.quarantined(modelId);
      },
    });
  }

  get runtime(): ModelRuntime | null {
    return this.process.current?.runtime ?? null;
  }

  get isQuarantined(): boolean {
    return this.inQuarantine;
  }

  /** Of the loaded model; null: it is not loaded. */
  activity(): Promise<EngineActivity> | null {
    return this.process.current?.opened?.activity() ?? null;
  }

  /** Resolves when no process of it is being ended. */
  async closed(): Promise<void> {
    await this.process.closing;
  }

  get occupancy(): Occupancy | null {
    const { current } = this.process;
    if (current === null) return null;
    const { openedAt, seats, isUsed } = current;
    const age = openedAt === null ? 0 : this.surroundings.clock.now() - openedAt;
    const isAwaited = this.queue.length > 0 || this.claims.expectedMs > 0;
    const busy =
      openedAt === null ||
      seats > 0 ||
      (!isUsed && age < FIRST_SEAT_MS) ||
      (isAwaited && age < this.surroundings.turnMs);
    return { busy, openedAt, lastUsed: this.usage.lastUsed };
  }

  get isWanted(): boolean {
    if (this.process.current !== null || this.inQuarantine) return false;
    return this.isAwaited || this.claims.isOffered || this.loads.length > 0;
  }

  /**
   * For the claim side. Null: told by seatFree when it is worth another try. A model that can never be loaded gives
   * seats all the same: whoever takes one hears why.
   */
  takeSeat(): ModelSeat | null {
    this.claims.came();
    const refusal = this.surroundings.rows > 0 ? this.refusal() : null;
    this.claims.isRefused = refusal === null && !this.hasRoom();
    if (refusal !== null) return refusedSeat(refusal);
    if (this.claims.isRefused) return null;
    this.lastServed = 'claims';
    const seat = this.take();
    if (this.claims.endOffer()) this.distribute();
    return seat;
  }

  /** Lost too often: no seat is given until `load` ends it (WIRE B6). */
  quarantine(): void {
    this.inQuarantine = true;
    this.queue.refuseAll(modelQuarantined(this.modelId));
    // The claim side looks again, and hears why there is no seat.
    this.claims.tell();
  }

  /** For foreground work: a free seat at once if nobody is before it; null: `join` the queue. */
  takeSeatUnlessAwaited(): ModelSeat | null {
    if (this.inQuarantine) throw modelQuarantined(this.modelId);
    const refusal = this.refusal();
    if (refusal !== null) throw refusal;
    if (this.queue.length > 0 || this.claims.isOffered || !this.hasRoom()) return null;
    this.lastServed = 'queue';
    return this.take();
  }

  /** Rejects when a load fails meanwhile, and with the signal's reason. */
  join(signal: AbortSignal, clientId: string): Promise<ModelSeat> {
    const seat = this.queue.join(signal, clientId);
    seat.catch(() => this.surroundings.memory.reconsider());
    return seat;
  }

  /** Resolves when the model is loaded. An explicit load does not wait for the backoff of an earlier failure. */
  async load(): Promise<void> {
    await this.process.closing;
    if (this.process.isStopping) throw new ServiceStopping();
    this.inQuarantine = false;
    this.process.forgive();
    const refusal = this.refusal();
    if (refusal !== null) throw refusal;
    const incarnation = this.process.current ?? (await this.beginOrWait());
    this.distribute();
    await incarnation.model;
  }

  /** From now on the model stays loaded so long when nobody uses it; null: as before. */
  keepLoaded(seconds: number | null): void {
    if (seconds === null) return;
    this.usage.keep(seconds);
    this.rest();
  }

  /** Ends the model's process; false if there is none. Gives no seat until `then` is done. Throws model_in_use. */
  async unload(then?: () => Promise<void>): Promise<boolean> {
    if (this.process.closing !== null) await this.process.closing;
    const isEnded = this.close(then);
    await this.process.closing;
    return isEnded;
  }

  evict(): void {
    this.end('budget');
  }

  /** The model is gone for good. */
  retire(): void {
    this.queue.refuseAll(modelNotFound(this.modelId));
    this.loads.refuseAll(modelNotFound(this.modelId));
    this.claims.tell();
  }

  /** Ends the process whoever uses it. To be called once `stopping` is aborted. */
  async stop(): Promise<void> {
    this.usage.unloaded();
    this.queue.refuseAll(new ServiceStopping());
    this.loads.refuseAll(new ServiceStopping());
    await this.process.stop();
  }

  /** Gives free seats to those who wait: the queue and the claim side in turn. */
  distribute(): void {
    this.refuseWhoCannotBeServed();
    if (this.loads.length > 0 && this.process.mayBegin && this.surroundings.memory.ask(this.modelId)) this.begin();
    while (this.isAwaited && !this.claims.isOffered && this.hasRoom()) {
      const costsRoom = this.process.current === null && this.surroundings.memory.isWaiting(this.modelId);
      const isTheirTurn = this.lastServed === 'queue' || (costsRoom && this.queue.length === 0);
      if (this.claims.isRefused && isTheirTurn) return this.offerToClaims(costsRoom);
      if (this.queue.length === 0) {
        this.claims.tell();
        break;
      }
      this.lastServed = 'queue';
      this.queue.serve(this.take());
    }
    this.rest();
  }

  private get isAwaited(): boolean {
    return this.queue.length > 0 || this.claims.isRefused;
  }

  private hasRoom(): boolean {
    const { rows, memory } = this.surroundings;
    const { current } = this.process;
    if (this.inQuarantine || this.process.isStopping) return false;
    if (current === null) return rows > 0 && this.process.mayBegin && memory.ask(this.modelId);
    return current.seats < rows && !memory.isDraining(this.modelId);
  }

  /** Why the model can never be loaded; null: it can, or is. */
  private refusal(): DomainError | null {
    return this.process.current === null ? this.surroundings.memory.refusal(this.modelId) : null;
  }

  private refuseWhoCannotBeServed(): void {
    if (!this.isAwaited && this.loads.length === 0) return;
    const refusal = this.refusal();
    if (refusal === null) return;
    this.queue.refuseAll(refusal);
    this.loads.refuseAll(refusal);
    if (this.surroundings.rows > 0) this.claims.tell();
  }

  private take(): ModelSeat {
    const incarnation = this.process.current ?? this.begin();
    this.usage.begins();
    return incarnation.seat({
      released: () => this.released(incarnation),
      keepLoaded: (seconds) => incarnation === this.process.current && this.keepLoaded(seconds),
      generated: (figures) => this.surroundings.generated(this.modelId, figures),
    });
  }

  private begin(): Incarnation {
    if (this.process.isStopping) throw new ServiceStopping();
    this.surroundings.memory.admit(this.modelId);
    const incarnation = this.process.begin();
    this.usage.touch();
    this.loads.begun(incarnation);
    return incarnation;
  }

  private beginOrWait(): Incarnation | Promise<Incarnation> {
    return this.surroundings.memory.ask(this.modelId) ? this.begin() : this.loads.join();
  }

  private opened(model: OpenedModel): void {
    this.exact = model.info.exact;
    this.usage.touch();
    this.surroundings.memory.opened(this.modelId, model.info.residentBytes);
    this.rest();
  }

  private released(incarnation: Incarnation): void {
    if (incarnation === this.process.current) this.usage.ends(this.activity());
    this.distribute();
    this.surroundings.memory.reconsider();
  }

  /** Counts the time of a model that nobody uses. */
  private rest(): void {
    if (this.process.isIdle) this.usage.rest(this.claims.expectedMs);
  }

  private close(then?: () => Promise<void>): boolean {
    const isEnded = this.process.close(then);
    if (!isEnded) return false;
    this.usage.unloaded();
    this.surroundings.memory.reconsider();
    return true;
  }

  private end(reason: UnloadReason): void {
    if (this.process.isIdle && this.close()) this.surroundings.unloaded(this.modelId, reason);
  }

  private offerToClaims(costsRoom: boolean): void {
    this.claims.offer(costsRoom, () => {
      this.lastServed = 'claims';
      this.distribute();
      this.surroundings.memory.reconsider();
    });
  }
}
