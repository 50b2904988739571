import { Injectable } from '@nestjs/common';
import { StoreReader } from '../database/index.js';
import { Notices } from '../notices/index.js';
import { ActiveRuns } from './active-run.js';
import { TaskUnits } from './hooks/task-units.js';
import { RunnerLoss } from './runner-loss.js';
import { TaskNotFound, TransitionRefused } from './tasks.errors.js';
import { taskFromRow, type Task, type TaskRow } from './task.js';

const PERIOD_MS = 10_000;
/** Rows looked at in one sweep; each is one that some run holds, or should. */
const PAGE = 1000;

/**
 * Every 10 s: rows that are held by an owner of whom this process knows no run, because its end could not be written,
 * are moved by row 15 as if the runner had died (WIRE B4). It finds nothing as long as all goes well.
 */
@Injectable()
export class OwnerSweep {
  private timer: NodeJS.Timeout | null = null;
  private sweeping: Promise<void> = Promise.resolve();
  /** Rows that could not be moved either: left to the next start. */
  private readonly leftAlone = new Set<string>();

  constructor(
    private readonly reader: StoreReader,
    private readonly units: TaskUnits,
    private readonly loss: RunnerLoss,
    private readonly active: ActiveRuns,
    private readonly notices: Notices,
  ) {}

  /** `moved` hears of the lane of each row that waits again. */
  start(moved: (type: string, model: string | null) => void): void {
    this.timer = setInterval(() => {
      this.sweeping = this.sweeping.then(() => this.sweep(moved));
    }, PERIOD_MS).unref();
  }

  /** Resolves when no sweep is under way. */
  async stop(): Promise<void> {
    if (this.timer) clearInterval(this.timer);
    await this.sweeping;
  }

  /** Never rejects. */
  async sweep(moved: (type: string, model: string | null) => void): Promise<void> {
    try {
      for (const task of await this.orphans()) {
        if (await this.move(task)) moved(task.type, task.model);
      }
    } catch (error) {
      this.notices.emit('sweep.failed', { error });
    }
  }

  private async orphans(): Promise<Task[]> {
    const rows = await this.reader.query<TaskRow>(
      `select * from tasks where status in ('loading', 'running', 'cancelling') and owner is not null limit ?`,
      [PAGE],
    );
    return rows.map(taskFromRow).filter((task) => !this.leftAlone.has(task.id) && this.isOrphan(task));
  }

  private isOrphan({ id, attempt }: Task): boolean {
    return this.active.of(id)?.claim.attempt !== attempt;
  }

  private async move(task: Task): Promise<boolean> {
    try {
      return await this.units.run(async (tx) => {
        if (!this.isOrphan(task)) return false;
        await this.loss.orphaned(tx, task);
        return true;
      });
    } catch (error) {
      // It has moved meanwhile.
      if (error instanceof TransitionRefused || error instanceof TaskNotFound) return false;
      this.leftAlone.add(task.id);
      this.notices.emit('task.fault', { task_id: task.id, error });
      return false;
    }
  }
}
