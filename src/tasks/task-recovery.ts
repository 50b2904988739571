import { Injectable } from '@nestjs/common';
import { StoreClosed, storageFault, StoreReader, type Tx } from '../database/index.js';
import { DomainError } from '../errors/index.js';
import { Notices } from '../notices/index.js';
import { TaskUnits } from './hooks/task-units.js';
import { TaskLifecycleService } from './task-lifecycle.service.js';
import { UNFINISHED_STATUSES } from './task-transitions.js';
import { readEventsOfMany } from './task-log.js';
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
    private readonly units: TaskUnits,
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
    let done = 0;
    let next = this.page(-1);
    for (;;) {
      const tasks = await next;
      const last = tasks.at(-1);
      if (!last) break;
      // Read while these are written: none of them is among those behind.
      next = this.page(last.position);
      next.catch(() => undefined);
      for (const outcome of await this.recoverPage(tasks)) report[outcome] += 1;
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
   * One unit for the page; if it fails, one for each half of it, and so on: a damaged row holds up no other. A fault of the disk
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
      const middle = Math.ceil(tasks.length / 2);
      return [...(await this.recoverPage(tasks.slice(0, middle))), ...(await this.recoverPage(tasks.slice(middle)))];
    }
  }

  /** Each cell's tasks move together. */
  private recoverTogether(tasks: Task[]): Promise<RecoveryOutcome[]> {
    return this.units.run(async (tx) => {
      const cells = new Map<Cell, Task[]>();
      const last = await lastEvents(tx, tasks.filter(waitsForTakeUp));
      for (const task of tasks) {
        const cell = cellOf(task, last.get(task.id));
        const alike = cells.get(cell) ?? [];
        cells.set(cell, alike);
        alike.push(task);
      }
      const outcomes: RecoveryOutcome[] = [];
      for (const [cell, found] of cells) outcomes.push(...(await this.recover(tx, cell, found)));
      return outcomes;
    });
  }

  private async recover(tx: Tx, cell: Cell, tasks: Task[]): Promise<RecoveryOutcome[]> {
    const ids = tasks.map(({ id }) => id);
    switch (cell) {
      case 'cancel':
        await this.lifecycle.recoverCancel(tx, ids);
        return ids.map(() => 'cancelled');
      case 'fail':
        await this.lifecycle.recoverFail(tx, ids, serverRestarted());
        return ids.map(() => 'failed');
      case 'keep':
        return ids.map(() => 'kept');
      case 'retry':
        return this.again(tx, tasks, (alike, interruptions) => this.lifecycle.recoverRetry(tx, alike, interruptions));
      case 'resume':
        return this.again(tx, tasks, (alike, interruptions) => this.lifecycle.recoverResume(tx, alike, interruptions));
    }
  }

  /** Counts an unclean end for each owner. A clean stop and an earlier recovery leave none: nothing counts twice. */
  private async again(
    tx: Tx,
    tasks: Task[],
    move: (ids: string[], interruptions: number) => Promise<Task[]>,
  ): Promise<RecoveryOutcome[]> {
    const owned = tasks.filter(({ owner }) => owner !== null).map(({ id }) => id);
    const unowned = tasks.filter(({ owner }) => owner === null).map(({ id }) => id);
    const outcomes: RecoveryOutcome[] = [];
    for (const task of [...(await move(owned, 1)), ...(await move(unowned, 0))]) {
      outcomes.push(await this.limited(tx, task));
    }
    return outcomes;
  }

  /** A task that was cut off too often is given up, as any of its state (rows 12 and 13). */
  private async limited(tx: Tx, task: Task): Promise<RecoveryOutcome> {
    const { id, status, interruptions } = task;
    if (interruptions < task.maxInterruptions) return status === 'queued' ? 'requeued' : 'resumed';
    const error = retryLimitExceeded(interruptions);
    await (status === 'queued' ? this.lifecycle.failQueued(tx, id, error) : this.lifecycle.failUnowned(tx, id, error));
    return 'failed';
  }
}

/** What the twelve cells of 11.3 come to (C1). */
type Cell = 'cancel' | 'fail' | 'keep' | 'retry' | 'resume';

/** A foreground task has nobody left to answer: it fails. */
function cellOf(task: Task, lastEvent: string | undefined): Cell {
  if (task.status === 'cancelling') return 'cancel';
  if (task.onRestart === 'fail' || !task.background) return 'fail';
  if (task.status === 'queued') return 'keep';
  if (task.status !== 'running' || task.onRestart !== 'resume') return 'retry';
  return waitsForTakeUp(task) && lastEvent === 'response.in_progress' ? 'keep' : 'resume';
}

/** Row 18 has left it so, or a clean stop has: only the last event tells. */
function waitsForTakeUp(task: Task): boolean {
  return task.status === 'running' && task.owner === null;
}

async function lastEvents(tx: Tx, tasks: Task[]): Promise<Map<string, string>> {
  const logs = await readEventsOfMany(
    tx,
    tasks.map(({ id, lastSequenceNumber }) => ({ taskId: id, after: lastSequenceNumber - 1 })),
  );
  return new Map([...logs].flatMap(([id, [last]]) => (last ? [[id, last.type]] : [])));
}

function serverRestarted(): ReturnType<DomainError['toBody']> {
  return new DomainError('server_restarted', 'The service restarted before the task had ended.').toBody();
}
