import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../config/index.js';
import { ServiceStopping, type DomainError } from '../errors/index.js';
import type { EngineActivity, ExactPromises } from '../inference/index.js';
import { Notices, type NoticeTypes } from '../notices/index.js';
import type { GenerationFigures } from './metered-model.js';
import { ModelCatalogue } from './model-catalogue.js';
import { ModelLoader } from './model-loader.js';
import type { ModelRuntime } from './model-object.js';
import type { ModelSeat } from './model-seat.js';
import { ModelSlot, type SlotSurroundings } from './model-slot.js';
import { modelQuarantined, waitingRoomFull } from './models.errors.js';
import { MonotonicClock } from './monotonic-clock.js';

/**
 * Which models are loaded and who uses them. A model is loaded by the first seat that is asked for; one load serves
 * all who wait for it. Models are named by catalogue id here, never by alias.
 */
@Injectable()
export class ModelResidency {
  private readonly slots = new Map<string, ModelSlot>();
  private readonly listeners = new Set<(modelId: string) => void>();
  private readonly stopping = new AbortController();
  private readonly surroundings: SlotSurroundings;

  constructor(
    private readonly catalogue: ModelCatalogue,
    loader: ModelLoader,
    @Inject(CONFIG) private readonly config: Config,
    private readonly notices: Notices,
    clock: MonotonicClock,
  ) {
    this.surroundings = {
      rows: config.maxRows,
      clock,
      stopping: this.stopping.signal,
      open: (modelId) => loader.open(modelId, this.stopping.signal),
      lost: (modelId, reason, stalled) =>
        notices.emit('runner.lost', { model: modelId, reason, cause: stalled ? 'stalled' : 'ended' }),
      generated: (modelId, figures) => notices.emit('generation.ended', generationNotice(modelId, figures)),
      quarantined: (modelId) => void this.rememberQuarantine(modelId),
      seatFree: (modelId) => {
        for (const listener of this.listeners) listener(modelId);
      },
    };
  }

  /**
   * A seat for a task to be claimed; starts the load if the model is not loaded. Null while the model cannot take one
   * more (rows taken, being unloaded, waiting after a failure, LMSP_MAX_ROWS=0): onSeatFree tells when to try again. An
   * error: the model is in quarantine.
   */
  seat(modelId: string): ModelSeat | DomainError | null {
    const slot = this.slot(modelId);
    return slot.isQuarantined ? modelQuarantined(modelId) : slot.takeSeat();
  }

  /** Keeps a model that the store knows to be in quarantine from being loaded; to be called at the start. */
  quarantine(modelId: string): void {
    this.slot(modelId).quarantine();
  }

  /**
   * A seat for foreground work without a task; waits its turn while there is none. Throws queue_full beyond
   * LMSP_MAX_WAITING_REQUESTS waiting requests over all models, or half as many of one client, which leaves the rest to
   * the others; the error of a load that fails meanwhile, and the signal's reason. A seat that comes in the very moment of the abort is the caller's to release.
   */
  async waitSeat(modelId: string, clientId: string, signal: AbortSignal): Promise<ModelSeat> {
    signal.throwIfAborted();
    if (this.stopping.signal.aborted) throw new ServiceStopping();
    const slot = this.slot(modelId);
    const seat = slot.takeSeatUnlessAwaited();
    if (seat !== null) return seat;
    const { maxWaitingRequests } = this.config;
    const share = Math.ceil(maxWaitingRequests / 2);
    if (this.waiting(({ waiting }) => waiting) >= maxWaitingRequests)
      throw waitingRoomFull(`${maxWaitingRequests} requests`);
    if (this.waiting((one) => one.waitingOf(clientId)) >= share) throw waitingRoomFull(`${share} requests of yours`);
    return slot.join(signal, clientId);
  }

  /**
   * Calls the listener when `seat`, which had answered null for the model, is worth another try. The seat is kept for
   * it for a moment when it is its turn. Returns the function that takes the listener away again.
   */
  onSeatFree(listener: (modelId: string) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** Resolves when the model is loaded. Throws as ModelSeat.model rejects. */
  async load(modelId: string): Promise<void> {
    if (this.slots.get(modelId)?.isQuarantined) await this.catalogue.quarantine(modelId, false);
    await this.slot(modelId).load();
  }

  /** Ends the model's process; fine if it has none. Throws model_in_use while it is loading or has seats held. */
  async unload(modelId: string): Promise<void> {
    const unloaded = await this.slots.get(modelId)?.unload();
    if (unloaded) this.notices.emit('model.unloaded', { model: modelId, reason: 'requested' });
  }

  /**
   * Ends the model's process, has `forget` take the model away, and gives no seat meanwhile or after. Throws
   * model_in_use, and what `forget` throws: then the model stays.
   */
  async remove(modelId: string, forget: () => Promise<void>): Promise<void> {
    await this.slot(modelId).unload(forget);
    this.slots.delete(modelId);
  }

  /** Aborts when the service stops. */
  get stopSignal(): AbortSignal {
    return this.stopping.signal;
  }

  /** Null: neither loaded nor being loaded. */
  runtime(modelId: string): ModelRuntime | null {
    return this.slots.get(modelId)?.runtime ?? null;
  }

  /** What holds bit by bit, as the model's last load found; null: it has not been loaded since the start. */
  exact(modelId: string): ExactPromises | null {
    return this.slots.get(modelId)?.exact ?? null;
  }

  /** What each loaded model is doing at the moment. */
  async activities(): Promise<{ modelId: string; activity: EngineActivity }[]> {
    const loaded = [...this.slots].flatMap(([modelId, slot]) => {
      const activity = slot.activity();
      return activity === null ? [] : [activity.then((found) => ({ modelId, activity: found }))];
    });
    return Promise.all(loaded);
  }

  /** Ends all processes whoever uses them (WIRE B6, clean stop); seats and loads are refused from now on. */
  async stop(): Promise<void> {
    this.stopping.abort(new ServiceStopping());
    await Promise.all([...this.slots.values()].map((slot) => slot.stop()));
  }

  private async rememberQuarantine(modelId: string): Promise<void> {
    this.notices.emit('model.quarantined', { model: modelId });
    try {
      await this.catalogue.quarantine(modelId, true);
    } catch {
      this.notices.emit('model.warning', { model: modelId, reason: 'its quarantine could not be stored' });
    }
  }

  private waiting(count: (slot: ModelSlot) => number): number {
    let waiting = 0;
    for (const slot of this.slots.values()) waiting += count(slot);
    return waiting;
  }

  private slot(modelId: string): ModelSlot {
    let slot = this.slots.get(modelId);
    if (slot === undefined) {
      slot = new ModelSlot(modelId, this.surroundings);
      this.slots.set(modelId, slot);
    }
    return slot;
  }
}

function generationNotice(model: string, figures: GenerationFigures): NoticeTypes['generation.ended'] {
  return {
    model,
    outcome: figures.outcome,
    prompt_tokens: figures.promptTokens,
    output_tokens: figures.outputTokens,
    replayed_tokens: figures.replayedTokens,
    first_token_ms: figures.firstTokenMs,
    decode_ms: figures.decodeMs,
  };
}
