import { Injectable } from '@nestjs/common';
import type { Tx } from '../database/index.js';
import { DomainError } from '../errors/index.js';
import { TaskHandlers, type TaskOutcome } from './task-handlers.js';
import { TaskLifecycleService, type Blame } from './task-lifecycle.service.js';
import { taskFromRow, type Claim, type Task, type TaskRow } from './task.js';
import { retryLimitExceeded, TaskNotFound } from './tasks.errors.js';

/** What becomes of a running task whose runner has died while the service lives (WIRE B4 row 15, blame of B6). */
@Injectable()
export class RunnerLoss {
  constructor(
    private readonly lifecycle: TaskLifecycleService,
    private readonly handlers: TaskHandlers,
  ) {}

  /**
   * Inside the unit that ends the run, whose steps are on disk by then. Only a task that was alone is charged, and its
   * second such loss without a step between fails it; the interruptions used up fail it by row 12 or 13.
   */
  async settle(tx: Tx, claim: Claim, { message, alone }: Extract<TaskOutcome, { kind: 'lost' }>): Promise<Task> {
    const task = await read(tx, claim.taskId);
    const runsAgain = task.background && task.onRestart !== 'fail';
    if (!runsAgain || (alone && task.suspicion === 2)) {
      return this.lifecycle.fail(tx, claim, new DomainError('model_error', message).toBody());
    }
    const blame: Blame = alone
      ? { interruptions: 1, suspicion: 2 }
      : { interruptions: 0, suspicion: task.suspicion === 0 ? 1 : task.suspicion };
    const resumes = task.onRestart === 'resume' && this.handlers.find(task.type)?.takeUp !== undefined;
    const after = await (resumes
      ? this.lifecycle.interruptLost(tx, claim, blame)
      : this.lifecycle.requeueLost(tx, claim, blame));
    if (after.status === 'failed' || after.interruptions < after.maxInterruptions) return after;
    const error = retryLimitExceeded(after.interruptions);
    return resumes ? this.lifecycle.failUnowned(tx, task.id, error) : this.lifecycle.failQueued(tx, task.id, error);
  }

  /** The same for a row that is held by an owner of whom nobody knows a run; its load, too, begins anew. */
  async orphaned(tx: Tx, task: Task): Promise<void> {
    const claim: Claim = { taskId: task.id, attempt: task.attempt, owner: task.owner ?? '' };
    const message = 'The run of the task ended unexpectedly.';
    if (task.status === 'cancelling') await this.lifecycle.confirmCancel(tx, task.id, claim);
    else if (task.status === 'running') await this.settle(tx, claim, { kind: 'lost', message, alone: true });
    else if (task.background && task.onRestart !== 'fail')
      await this.lifecycle.recover(tx, [{ command: 'recoverRetry', taskIds: [task.id] }]);
    else await this.lifecycle.failLoading(tx, claim, new DomainError('model_load_failed', message).toBody());
  }
}

async function read(tx: Tx, taskId: string): Promise<Task> {
  const [row] = await tx.query<TaskRow>('select * from tasks where id = ?', [taskId]);
  if (!row) throw new TaskNotFound(taskId);
  return taskFromRow(row);
}
