import { Injectable } from '@nestjs/common';
import { storageFault, type Tx } from '../database/index.js';
import { Notices } from '../notices/index.js';
import { ActiveRun, ActiveRuns } from './active-run.js';
import { OwnerSweep } from './owner-sweep.js';
import { TaskClaims, type ClaimedTask, type ClaimRegister } from './task-claims.js';
import { TaskExecution } from './task-execution.js';
import type { TaskProgress } from './task-handlers.js';

const LANE_RETRY_MS = 250;
/** A locked or full disk is no sooner well again. */
const STORAGE_RETRY_MS = 1000;

/** A lane in which tasks are being claimed, one claim after the other. */
interface Lane {
  readonly type: string;
  readonly model: string | null;
  /** Woken meanwhile: it is looked at once more. */
  again: boolean;
  /** Resolves when the last claim has ended. */
  claimed: Promise<void>;
}

/** Keeps every lane moving: claims what waits when there is a seat, and runs it. */
@Injectable()
export class TaskRunner implements ClaimRegister {
  private claiming = false;
  private stopped = false;
  private readonly lanes = new Map<string, Lane>();
  /** Lanes that were refused a seat: whoever gives one back wakes them. */
  private readonly full = new Set<string>();

  constructor(
    private readonly claims: TaskClaims,
    private readonly execution: TaskExecution,
    private readonly active: ActiveRuns,
    private readonly sweep: OwnerSweep,
    private readonly notices: Notices,
  ) {}

  /** Begins to claim; called once recovery has ended. */
  async start(): Promise<void> {
    this.claiming = true;
    for (const { type, model } of await this.claims.lanes()) this.wake(type, model);
    this.sweep.start((type, model) => this.wake(type, model));
  }

  /** The service is stopping: what joins the queue from now on waits for the next start. */
  get isStopped(): boolean {
    return this.stopped;
  }

  /** Claims nothing more; resolves when no claim is under way. */
  async stopClaiming(): Promise<void> {
    this.claiming = false;
    this.stopped = true;
    await Promise.all([this.sweep.stop(), ...[...this.lanes.values()].map((lane) => lane.claimed)]);
  }

  /** A task has joined the lane; while that is full, nothing is looked at for it. Cheap, and never blocks. */
  joined(type: string, model: string | null): void {
    if (!this.full.has(keyOf(type, model))) this.wake(type, model);
  }

  /** There may be a seat in the lane for what waits there. Never blocks. */
  wake(type: string, model: string | null): void {
    if (!this.claiming) return;
    const key = keyOf(type, model);
    const known = this.lanes.get(key);
    if (known) {
      known.again = true;
      return;
    }
    const lane: Lane = { type, model, again: false, claimed: Promise.resolve() };
    this.lanes.set(key, lane);
    lane.claimed = this.pump(key, lane);
  }

  /** The attempts this process works on. */
  runs(): ActiveRun[] {
    return this.active.all();
  }

  /** Live figures of the task's run, or null when it has none. */
  progressOf(taskId: string): TaskProgress | null {
    const run = this.active.of(taskId);
    if (run === null || run.running) return run?.progress ?? null;
    return { ...run.progress, load_fraction: run.claimed.seat.loadFraction ?? null };
  }

  /** Resolves when no run is left of those that `which` picks. */
  async idle(which: (run: ActiveRun) => boolean = () => true): Promise<void> {
    for (;;) {
      const runs = this.active.all().filter(which);
      if (runs.length === 0) return;
      await Promise.all(runs.map((run) => run.finished));
    }
  }

  /** Of ClaimRegister. */
  taskIds(): string[] {
    return this.active.all().map((run) => run.claim.taskId);
  }

  /** Of ClaimRegister. */
  suspectRuns(type: string, model: string | null): boolean {
    return this.active.all().some(({ isSuspect, task }) => isSuspect && task.type === type && task.model === model);
  }

  /** Of ClaimRegister. */
  register(tx: Tx, claimed: ClaimedTask): void {
    const run = new ActiveRun(claimed);
    this.active.add(run);
    tx.afterRollback(() => this.active.remove(run));
    tx.afterCommit(() => void this.run(run));
    const { type, model } = run.task;
    void run.proven.then(() => this.wake(type, model));
  }

  private async pump(key: string, lane: Lane): Promise<void> {
    const { type, model } = lane;
    let isFull = false;
    do {
      lane.again = false;
      isFull = false;
      try {
        isFull = (await this.claims.claim(type, model, this)) === 'full';
      } catch (error) {
        // The seats given back have woken the lane: it waits all the same.
        lane.again = false;
        this.wakeLater(lane, error);
      }
    } while (lane.again && this.claiming);
    // In the same turn as the last look at `again`, so that no wake is lost.
    this.lanes.delete(key);
    if (isFull) this.full.add(key);
    else this.full.delete(key);
  }

  private wakeLater({ type, model }: Lane, error: unknown): void {
    const fault = storageFault(error);
    if (fault) this.notices.emit('storage.retry', { fault });
    else this.notices.emit('claim.failed', { type, model, error });
    setTimeout(() => this.wake(type, model), fault ? STORAGE_RETRY_MS : LANE_RETRY_MS).unref();
  }

  private async run(run: ActiveRun): Promise<void> {
    const settled = await this.execution.execute(run);
    if (!settled && !run.running) this.claims.setApart(run.claim.taskId);
    this.active.remove(run);
    const { type, model } = run.claimed.task;
    this.wake(type, model);
  }
}

function keyOf(type: string, model: string | null): string {
  return JSON.stringify([type, model]);
}
