import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../config/index.js';
import { DomainError, ServiceStopping } from '../errors/index.js';
import type { EngineActivity, ExactPromises } from '../inference/index.js';
import { Notices, type NoticeTypes } from '../notices/index.js';
import type { GenerationFigures } from './metered-model.js';
import { ModelMemory } from './model-memory.js';
import { ModelCatalogue } from './model-catalogue.js';
import { ModelLoader } from './model-loader.js';
import type { ModelLive, ModelRuntime } from './model-object.js';
import type { ModelSeat } from './model-seat.js';
import { ModelSlot } from './model-slot.js';
import { modelQuarantined, waitingRoomFull } from './models.errors.js';
import { MonotonicClock } from './monotonic-clock.js';
import type { SlotSurroundings } from './slot-surroundings.js';

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
  private readonly memory: ModelMemory;

  constructor(
    private readonly catalogue: ModelCatalogue,
    loader: ModelLoader,
    @Inject(CONFIG) private readonly config: Config,
    private readonly notices: Notices,
    clock: MonotonicClock,
  ) {
    const { maxRows: rows, modelTurnSeconds } = config;
    const turnMs = modelTurnSeconds * 1000;
    this.memory = new ModelMemory({
      budgetBytes: config.modelMemoryBytes,
      turnMs,
      rows,
      clock,
      record: (modelId) => catalogue.remembered(modelId),
      pinned: () => catalogue.rememberedPinned(),
      tenants: this.slots,
    });
    this.surroundings = {
      rows,
      turnMs,
      clock,
      stopping: this.stopping.signal,
      memory: this.memory,
      keepAliveSeconds: (modelId) => this.keepAliveOf(modelId),
      open: async (modelId, progress) => {
        // What made room for it may not be gone yet.
        await Promise.allSettled([...this.slots.values()].map((slot) => slot.closed()));
        return loader.open(modelId, { signal: this.stopping.signal, progress });
      },
      unloaded: (modelId, reason) => notices.emit('model.unloaded', { model: modelId, reason }),
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
   * more (rows taken, no memory at the moment, being unloaded, waiting after a failure, LMSP_MAX_ROWS=0): onSeatFree tells when to try again. An
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
   * the others; insufficient_resources if the model can never be loaded; the error of a load that fails meanwhile, and the signal's reason. A seat that comes in the very moment of the abort is the caller's to release.
   */
  async waitSeat(modelId: string, clientId: string, signal: AbortSignal): Promise<ModelSeat> {
    signal.throwIfAborted();
    if (this.stopping.signal.aborted) throw new ServiceStopping();
    const slot = this.slot(modelId);
    const seat = slot.takeSeatUnlessAwaited();
    if (seat !== null) return seat;
    const { maxWaitingRequests } = this.config;
    const share = Math.ceil(maxWaitingRequests / 2);
    if (this.waiting(({ queue }) => queue.length) >= maxWaitingRequests)
      throw waitingRoomFull(`${maxWaitingRequests} requests`);
    if (this.waiting(({ queue }) => queue.lengthOf(clientId)) >= share)
      throw waitingRoomFull(`${share} requests of yours`);
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

  /**
   * Resolves when the model is loaded; waits for memory. `keepAliveSeconds`: how long it stays when nobody uses it; null:
   * no wish. Throws as ModelSeat.model rejects.
   */
  async load(modelId: string, keepAliveSeconds: number | null = null): Promise<void> {
    if (this.slots.get(modelId)?.isQuarantined) await this.catalogue.quarantine(modelId, false);
    const slot = this.slot(modelId);
    await slot.load();
    slot.keepLoaded(keepAliveSeconds);
  }

  /** Loads the models that are to stay loaded. What keeps one from it is told to the log. */
  async loadPinned(): Promise<void> {
    const loads = this.catalogue.rememberedPinned().map(async ({ id }) => {
      try {
        await this.slot(id).load();
      } catch (cause) {
        // A load that was tried has told of itself.
        if (!(cause instanceof DomainError) || cause.code !== 'insufficient_resources') return;
        this.notices.emit('model.load_failed', { model: id, error_code: cause.code, reason: cause.message });
      }
    });
    await Promise.all(loads);
  }

  /** Ends the model's process; fine if it has none. Throws model_in_use while it is loading or has seats held. */
  async unload(modelId: string): Promise<void> {
    const unloaded = await this.slots.get(modelId)?.unload();
    if (unloaded) this.surroundings.unloaded(modelId, 'requested');
  }

  /**
   * Ends the model's process, has `forget` take the model away, and gives no seat meanwhile or after. Throws
   * model_in_use, and what `forget` throws: then the model stays.
   */
  async remove(modelId: string, forget: () => Promise<void>): Promise<void> {
    const slot = this.slot(modelId);
    await slot.unload(forget);
    this.slots.delete(modelId);
    slot.retire();
  }

  /** Aborts when the service stops. */
  get stopSignal(): AbortSignal {
    return this.stopping.signal;
  }

  /** Null: neither loaded nor being loaded. */
  runtime(modelId: string): ModelRuntime | null {
    return this.slots.get(modelId)?.runtime ?? null;
  }

  /** All that is live about the model, its memory measured now. */
  async live(modelId: string): Promise<ModelLive> {
    const slot = this.slots.get(modelId);
    const activity = await slot?.activity();
    if (activity) this.memory.remeasured(modelId, activity.residentBytes);
    return {
      runtime: slot?.runtime ?? null,
      exact: slot?.exact ?? null,
      memoryBytes: activity?.residentBytes ?? null,
      memoryEstimateBytes: this.memory.estimate(modelId),
      lastUsedAt: slot?.usage.lastUsedAt ?? null,
      unloadsAt: slot?.usage.unloadsAt ?? null,
    };
  }

  /** Others have to leave the memory before the model can be loaded. */
  waitsForMemory(modelId: string): boolean {
    return this.memory.isWaiting(modelId);
  }

  /** Bytes: what all loaded models may take together, and what is put aside for those that are loaded or loading. */
  get memoryFigures(): { budget: number; reserved: number } {
    return { budget: this.memory.budgetBytes, reserved: this.memory.reservedBytes };
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

  private keepAliveOf(modelId: string): number {
    const record = this.catalogue.remembered(modelId);
    return record?.pinned ? -1 : (record?.keepAliveSeconds ?? this.config.keepAliveSeconds);
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
    cached_tokens: figures.cachedTokens,
    output_tokens: figures.outputTokens,
    replayed_tokens: figures.replayedTokens,
    first_token_ms: figures.firstTokenMs,
    decode_ms: figures.decodeMs,
  };
}
