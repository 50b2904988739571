import type { DomainError } from '../errors/index.js';
import { estimatedBytes, expectedCacheBytes } from './model-footprint.js';
import type { ModelRecord } from './model-record.js';
import type { MonotonicClock } from './monotonic-clock.js';
import { insufficientResources } from './models.errors.js';
import { bytesOf, planResidency, surplus, type Admission, type Resident } from './residency-plan.js';

const LOOK_AGAIN_MS = 250;

/** What is to be known of a loaded or loading model. Times are of the monotonic clock. */
export interface Occupancy {
  busy: boolean;
  /** Null while it is being loaded. */
  openedAt: number | null;
  lastUsed: number;
}

/** The place of one model, as its memory is seen. */
export interface Tenant {
  /** Null: it holds no memory. */
  readonly occupancy: Occupancy | null;
  /** It is not loaded, and somebody waits for it. */
  readonly isWanted: boolean;
  /** Ends its process; only for one that is idle. */
  evict(): void;
  /** Looks again at who waits. */
  distribute(): void;
}

export interface MemorySurroundings {
  readonly budgetBytes: number;
  /** A loaded model takes new work for so long although another waits for its memory. Milliseconds. */
  readonly turnMs: number;
  readonly rows: number;
  readonly clock: MonotonicClock;
  /** Every model that was read from the store, as it was read last. */
  record(modelId: string): ModelRecord | null;
  /** Those that are to stay loaded. */
  pinned(): ModelRecord[];
  readonly tenants: ReadonlyMap<string, Tenant>;
}

interface Measured {
  /** As the load left it, with the cache that is expected to be written. */
  atLoad: number;
  now: number;
}

/**
 * The budget of all loaded models together, and the line of those that wait for room (ENGINE 4.10). A model is counted
 * by what was measured of its process; before its first load by an estimate. All decisions are synchronous, so that
 * none is out of date when it is carried out.
 */
export class ModelMemory {
  /** Models that wait, whoever came first before the others. */
  private readonly line = new Set<string>();
  private readonly measured = new Map<string, Measured>();
  private isReconsidering = false;
  private isLookingAgain = false;

  constructor(private readonly surroundings: MemorySurroundings) {}

  get budgetBytes(): number {
    return this.surroundings.budgetBytes;
  }

  /** Of all models that are loaded or being loaded. */
  get reservedBytes(): number {
    return bytesOf(this.residents());
  }

  /** Before it is loaded for the first time; null: its files were not read yet. */
  estimate(modelId: string): number | null {
    const record = this.surroundings.record(modelId);
    return record && estimatedBytes(record, this.surroundings.rows);
  }

  isWaiting(modelId: string): boolean {
    return this.line.has(modelId);
  }

  /** Why the model cannot be loaded whatever is unloaded; null: it can. */
  refusal(modelId: string): DomainError | null {
    const { budgetBytes } = this.surroundings;
    const needed = this.least(modelId);
    const pinned = bytesOf(this.pinnedBeside(modelId));
    return needed <= budgetBytes - pinned ? null : insufficientResources(modelId, { needed, budgetBytes, pinned });
  }

  /** Whether a model that is not loaded may be loaded now; if not, it stands in the line from now on. */
  ask(modelId: string): boolean {
    const isWaiting = this.line.has(modelId);
    this.line.add(modelId);
    const isAdmitted = this.plan((id) => id === modelId).get(modelId)?.now === true;
    if (isAdmitted && !isWaiting) this.line.delete(modelId);
    this.lookAgain();
    return isAdmitted;
  }

  /** Makes room for a model that was admitted and is about to be loaded. */
  admit(modelId: string): void {
    const isKept = this.line.has(modelId);
    this.line.add(modelId);
    const victims = this.plan((id) => id === modelId).get(modelId)?.victims ?? [];
    this.line.delete(modelId);
    for (const victim of victims) this.surroundings.tenants.get(victim)?.evict();
    if (isKept || victims.length > 0) this.reconsider();
  }

  /** A loaded model that is to give no new seats: another waits for its memory, and its turn is over. */
  isDraining(modelId: string): boolean {
    if (this.line.size === 0) return false;
    const { tenants, turnMs, clock } = this.surroundings;
    const openedAt = tenants.get(modelId)?.occupancy?.openedAt ?? null;
    if (openedAt === null || clock.now() - openedAt < turnMs) return false;
    return [...this.plan().values()].some(({ victims }) => victims.includes(modelId));
  }

  /** The model was loaded; `residentBytes` as its process measured. */
  opened(modelId: string, residentBytes: number): void {
    const record = this.surroundings.record(modelId);
    const cache = record === null ? 0 : expectedCacheBytes(record, this.surroundings.rows);
    this.measured.set(modelId, { atLoad: residentBytes + cache, now: residentBytes });
    this.reconsider();
  }

  remeasured(modelId: string, residentBytes: number): void {
    const before = this.measured.get(modelId);
    if (before === undefined || before.now === residentBytes) return;
    this.measured.set(modelId, { ...before, now: residentBytes });
    if (residentBytes > before.now) this.reconsider();
  }

  /** Something has changed that may let a model in, or back to work: looked at once the present turn has ended. */
  reconsider(): void {
    if (this.isReconsidering) return;
    this.isReconsidering = true;
    queueMicrotask(() => {
      this.isReconsidering = false;
      const { tenants, budgetBytes } = this.surroundings;
      for (const id of surplus(budgetBytes, this.residents())) tenants.get(id)?.evict();
      for (const id of this.line) if (tenants.get(id)?.isWanted !== true) this.line.delete(id);
      for (const id of [...this.line]) tenants.get(id)?.distribute();
      // A model that has been draining for somebody who is gone.
      for (const tenant of [...tenants.values()]) tenant.distribute();
    });
  }

  /** While somebody waits: a model that was kept for whoever had been told of it may be nobody's by now. */
  private lookAgain(): void {
    if (this.isLookingAgain || this.line.size === 0) return;
    this.isLookingAgain = true;
    this.surroundings.clock.after(LOOK_AGAIN_MS, () => {
      this.isLookingAgain = false;
      this.reconsider();
      this.lookAgain();
    });
  }

  /** `isAsked`: stands in the line although nobody is seen to wait yet. */
  private plan(isAsked: (id: string) => boolean = () => false): Map<string, Admission> {
    const { budgetBytes, tenants } = this.surroundings;
    const waiting = [...this.line].filter((id) => isAsked(id) || tenants.get(id)?.isWanted === true);
    const wanted = waiting.filter((id) => this.refusal(id) === null).map((id) => ({ id, bytes: this.needed(id) }));
    return planResidency(budgetBytes, this.residents(), wanted);
  }

  private residents(): Resident[] {
    return [...this.surroundings.tenants].flatMap(([id, { occupancy }]) => {
      if (occupancy === null) return [];
      const { busy, lastUsed, openedAt } = occupancy;
      const measured = openedAt === null ? undefined : this.measured.get(id);
      const bytes = measured === undefined ? this.needed(id) : Math.max(measured.atLoad, measured.now);
      return [{ id, bytes, busy, lastUsed, pinned: this.surroundings.record(id)?.pinned === true }];
    });
  }

  /** What a load is expected to take: as it took last time, else as estimated; it need not wait for more than there is. */
  private needed(modelId: string): number {
    const atLoad = this.measured.get(modelId)?.atLoad ?? this.estimate(modelId) ?? 0;
    const most = this.surroundings.budgetBytes - bytesOf(this.pinnedBeside(modelId));
    return Math.min(atLoad, Math.max(most, this.least(modelId)));
  }

  /** What decides whether it can be loaded at all: a process that has grown is no reason to refuse the next. */
  private least(modelId: string): number {
    return Math.min(this.measured.get(modelId)?.atLoad ?? Infinity, this.estimate(modelId) ?? 0);
  }

  /** Of two pinned models that do not fit together, the one that is loaded stays. */
  private pinnedBeside(modelId: string): { bytes: number }[] {
    const { tenants } = this.surroundings;
    const isPinned = this.surroundings.record(modelId)?.pinned === true;
    return this.surroundings
      .pinned()
      .filter(({ id }) => id !== modelId && (!isPinned || tenants.get(id)?.occupancy != null))
      .map(({ id }) => ({ bytes: this.measured.get(id)?.atLoad ?? this.estimate(id) ?? 0 }));
  }
}
