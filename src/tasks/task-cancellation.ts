import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../config/index.js';
import type { Tx } from '../database/index.js';
import { DomainError } from '../errors/index.js';
import { ActiveRuns } from './active-run.js';
import { TaskUnits } from './hooks/task-units.js';
import { TaskEventStream } from './task-event-stream.js';
import { TaskLifecycleService } from './task-lifecycle.service.js';
import { taskFromRow, type Task, type TaskRow } from './task.js';
import { TaskNotFound } from './tasks.errors.js';

/** Cancels atomically (R3): once the unit has committed, the task can only become cancelled. */
@Injectable()
export class TaskCancellation {
  constructor(
    private readonly units: TaskUnits,
    private readonly lifecycle: TaskLifecycleService,
    private readonly active: ActiveRuns,
    private readonly stream: TaskEventStream,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /**
   * Answers with the task after the cancel: `cancelled`, or `cancelling` when its run has not stopped within
   * `cancelWaitMs`. A cancelled task is answered as it is. Throws task_not_found, and task_not_cancellable for a task
   * that ended otherwise. `record` writes into the same unit who asked for it.
   */
  async cancel(taskId: string, record?: (tx: Tx) => Promise<void>): Promise<Task> {
    const task = await this.units.run(async (tx) => {
      await record?.(tx);
      return this.request(tx, taskId);
    });
    if (task.status !== 'cancelling') return task;
    await this.stream.ended(taskId, AbortSignal.timeout(this.config.cancelWaitMs));
    return this.units.run((tx) => this.read(tx, taskId));
  }

  /** The same inside a unit; answers without waiting for the run. */
  async request(tx: Tx, taskId: string): Promise<Task> {
    const task = await this.read(tx, taskId);
    switch (task.status) {
      case 'queued':
        return this.lifecycle.cancelQueued(tx, taskId);
      case 'loading':
      case 'running':
        return this.stopRun(tx, await this.lifecycle.requestCancel(tx, taskId));
      case 'cancelling':
        return this.stopRun(tx, task);
      case 'cancelled':
        return task;
      default:
        throw new DomainError('task_not_cancellable', `The task has ended; it is ${task.status}.`);
    }
  }

  private async read(tx: Tx, taskId: string): Promise<Task> {
    const [row] = await tx.query<TaskRow>('select * from tasks where id = ?', [taskId]);
    if (!row) throw new TaskNotFound(taskId);
    return taskFromRow(row);
  }

  /** The run writes the end when it has stopped; without a run of this attempt the end is written here. */
  private stopRun(tx: Tx, task: Task): Task | Promise<Task> {
    const run = this.active.of(task.id);
    if (run?.claim.attempt !== task.attempt) return this.lifecycle.confirmCancel(tx, task.id);
    tx.afterCommit(() => run.stop());
    return task;
  }
}
