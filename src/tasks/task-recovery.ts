import { Injectable } from '@nestjs/common';
import { StoreClosed, storageFault, StoreReader, UnitOfWork, type Tx } from '../database/index.js';
import { DomainError } from '../errors/index.js';
import { Notices } from '../notices/index.js';
import { TaskLifecycleService } from './task-lifecycle.service.js';
import { UNFINISHED_STATUSES } from './task-transitions.js';
import { readEvents } from './task-log.js';
import { retryLimitExceeded } from './tasks.errors.js';
import { taskFromRow, type Task, type TaskRow } from './task.js';

/** What recovery did, in tasks. */
export interface RecoveryReport {
  total: number;
  /** Queued, or waiting to be taken up, before and after: nothing was written. */
  kept: number;
  requeued: number;
  resumed: number;
  failed: number;
  cancelled: number;
}

type RecoveryOutcome = Exclude<keyof RecoveryReport, 'total'>;

/** Tasks that share one transaction, at most (WIRE B6). */
const PAGE = 500;

const UNFINISHED = `status in (${UNFINISHED_STATUSES.map((status) => `'${status}'`).join(', ')})`;

/**
 * Looks through what a former process left unfinished and applies each task's restart policy (R6, 11.3). It may be
 * killed at any point and run again: every task moves with its event in one transaction, and a moved one is no longer
 * in a state that moves again.
 */
@Injectable()
export class TaskRecovery {
  constructor(
    private readonly units: UnitOfWork,
    private readonly reader: StoreReader,
    private readonly lifecycle: TaskLifecycleService,
    private readonly notices: Notices,
  ) {}

  /** `progress` hears how many of the leftover tasks have been looked at. Rejects with StorageFault; run it again then. */
  async run(progress: (done: number, total: number) => void): Promise<RecoveryReport> {
    const [count] = await this.reader.query<{ total: number }>(
      `select count(*) as total from tasks where ${UNFINISHED}`,
    );
    const report: RecoveryReport = {
      total: count?.total ?? 0,
      kept: 0,
      requeued: 0,
      resumed: 0,
      failed: 0,
      cancelled: 0,
    };
    const started = performance.now();
    this.notices.emit('recovery.started', { total: report.total });
    let after = -1;
    let done = 0;
    for (;;) {
      const tasks = await this.page(after);
      const last = tasks.at(-1);
      if (!last) break;
      for (const outcome of await this.recoverPage(tasks)) report[outcome] += 1;
      after = last.position;
      done += tasks.length;
      progress(done, report.total);
    }
    this.notices.emit('recovery.finished', { ...report, duration_ms: Math.round(performance.now() - started) });
    return report;
  }

  private async page(after: number): Promise<Task[]> {
    const rows = await this.reader.query<TaskRow>(
      `select * from tasks where ${UNFINISHED} and position > ? order by position limit ?`,
      [after, PAGE],
    );
    return rows.map(taskFromRow);
  }

  /**
   * One unit for the page; if it fails, one for each task, so that a damaged row holds up no other. A fault of the disk
   * or a store that a stop has closed is no row's: it fails the recovery, or every task would be passed over.
   */
  private async recoverPage(tasks: Task[]): Promise<RecoveryOutcome[]> {
    try {
      return await this.recoverTogether(tasks);
    } catch (error) {
      if (storageFault(error) || error instanceof StoreClosed) throw error;
      const first = tasks[0];
      if (tasks.length === 1 && first) {
        this.notices.emit('task.fault', { task_id: first.id, error });
        return [];
      }
      const outcomes: RecoveryOutcome[] = [];
      for (const task of tasks) outcomes.push(...(await this.recoverPage([task])));
      return outcomes;
    }
  }

  private recoverTogether(tasks: Task[]): Promise<RecoveryOutcome[]> {
    return this.units.run(async (tx) => {
      const outcomes: RecoveryOutcome[] = [];
      for (const task of tasks) outcomes.push(await this.recover(tx, task));
      return outcomes;
    });
  }

  /** The twelve cells of 11.3 (C1). A foreground task has nobody left to answer: it fails. */
  private async recover(tx: Tx, task: Task): Promise<RecoveryOutcome> {
    if (task.status === 'cancelling') {
      await this.lifecycle.recoverCancel(tx, task.id);
      return 'cancelled';
    }
    if (task.onRestart === 'fail' || !task.background) {
      await this.lifecycle.recoverFail(tx, task.id, serverRestarted());
      return 'failed';
    }
    if (task.status === 'queued') return 'kept';
    // A clean stop and an earlier recovery leave no owner: nothing is counted twice (WIRE B6).
    const interruptions = task.owner === null ? 0 : 1;
    if (task.status !== 'running' || task.onRestart !== 'resume') {
      const { interruptions: sum } = await this.lifecycle.recoverRetry(tx, task.id, interruptions);
      if (sum < task.maxInterruptions) return 'requeued';
      await this.lifecycle.failQueued(tx, task.id, retryLimitExceeded(sum));
      return 'failed';
    }
    if (interruptions === 0 && (await lastEvent(tx, task)) === 'response.in_progress') return 'kept';
    const { interruptions: sum } = await this.lifecycle.recoverResume(tx, task.id, interruptions);
    if (sum < task.maxInterruptions) return 'resumed';
    await this.lifecycle.failUnowned(tx, task.id, retryLimitExceeded(sum));
    return 'failed';
  }
}

/** Tells a task that row 18 has left unowned from one that a clean stop has. */
async function lastEvent(tx: Tx, task: Task): Promise<string | undefined> {
  const [last] = await readEvents(tx, task.id, task.lastSequenceNumber - 1, 1);
  return last?.type;
}

function serverRestarted(): ReturnType<DomainError['toBody']> {
  return new DomainError('server_restarted', 'The service restarted before the task had ended.').toBody();
}
