import { Injectable } from '@nestjs/common';
import { StoreClosed, storageFault, StoreReader } from '../database/index.js';
import { DomainError } from '../errors/index.js';
import { Notices } from '../notices/index.js';
import { TaskUnits } from './hooks/task-units.js';
import { TaskLifecycleService, type RecoveryMove } from './task-lifecycle.service.js';
import { readLastTypes } from './task-log.js';
import { UNFINISHED_STATUSES, type TaskStatus } from './task-transitions.js';
import { retryLimitExceeded } from './tasks.errors.js';
import type { Task, TaskRow } from './task.js';

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

  private async page(after: number): Promise<Leftover[]> {
    const rows = await this.reader.query<LeftoverRow>(
      `select position, id, status, owner, background, on_restart, last_sequence_number
       from tasks where ${UNFINISHED} and position > ? order by position limit ?`,
      [after, PAGE],
    );
    return rows.map(leftoverFromRow);
  }

  /**
   * One unit for the page; if it fails, one for each half of it, and so on: a damaged row holds up no other. A fault of the disk
   * or a store that a stop has closed is no row's: it fails the recovery, or every task would be passed over.
   */
  private async recoverPage(tasks: Leftover[]): Promise<RecoveryOutcome[]> {
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

  private recoverTogether(tasks: Leftover[]): Promise<RecoveryOutcome[]> {
    return this.units.run(async (tx) => {
      const types = await readLastTypes(tx, tasks.filter(waitsForTakeUp));
      const moved = await this.lifecycle.recover(tx, movesOf(tasks, types));
      const exhausted = moved.filter(isExhausted);
      const givenUp = new Set(exhausted.map(({ id }) => id));
      if (exhausted.length > 0) await this.lifecycle.recover(tx, exhausted.map(giveUp));
      const kept = Array<RecoveryOutcome>(tasks.length - moved.length).fill('kept');
      return [...kept, ...moved.map(({ id, status }) => (givenUp.has(id) ? 'failed' : outcomeOf(status)))];
    });
  }
}

/** What is looked at of a task that a former process left. */
type Leftover = Pick<Task, 'position' | 'id' | 'status' | 'owner' | 'background' | 'onRestart' | 'lastSequenceNumber'>;

type LeftoverRow = Pick<
  TaskRow,
  'position' | 'id' | 'status' | 'owner' | 'background' | 'on_restart' | 'last_sequence_number'
>;

function leftoverFromRow(row: LeftoverRow): Leftover {
  const { position, id, status, owner, background, on_restart: onRestart, last_sequence_number: last } = row;
  return { position, id, status, owner, background: background === 1, onRestart, lastSequenceNumber: last };
}

/** What the twelve cells of 11.3 come to (C1). */
type Cell = 'cancel' | 'fail' | 'keep' | 'retry' | 'resume';

/** A foreground task has nobody left to answer: it fails. */
function cellOf(task: Leftover, lastType: string | undefined): Cell {
  if (task.status === 'cancelling') return 'cancel';
  if (task.onRestart === 'fail' || !task.background) return 'fail';
  if (task.status === 'queued') return 'keep';
  if (task.status !== 'running' || task.onRestart !== 'resume') return 'retry';
  return waitsForTakeUp(task) && lastType === 'response.in_progress' ? 'keep' : 'resume';
}

function movesOf(tasks: Leftover[], lastTypes: ReadonlyMap<string, string>): RecoveryMove[] {
  const of = (cell: Cell): Leftover[] => tasks.filter((task) => cellOf(task, lastTypes.get(task.id)) === cell);
  const again = (command: 'recoverRetry' | 'recoverResume', found: Leftover[]): RecoveryMove[] => [
    // An unclean end counts for each owner. A clean stop and an earlier recovery leave none: nothing counts twice.
    { command, taskIds: idsOf(found.filter(({ owner }) => owner !== null)), interruptions: 1 },
    { command, taskIds: idsOf(found.filter(({ owner }) => owner === null)) },
  ];
  return [
    { command: 'recoverCancel', taskIds: idsOf(of('cancel')) },
    { command: 'recoverFail', taskIds: idsOf(of('fail')), error: serverRestarted() },
    ...again('recoverRetry', of('retry')),
    ...again('recoverResume', of('resume')),
  ];
}

/** A task that was cut off too often is given up, as any of its state (rows 12 and 13). */
function giveUp({ id, status, interruptions }: Task): RecoveryMove {
  const command = status === 'queued' ? 'failQueued' : 'failUnowned';
  return { command, taskIds: [id], error: retryLimitExceeded(interruptions) };
}

function isExhausted({ finishedAt, interruptions, maxInterruptions }: Task): boolean {
  return finishedAt === null && interruptions >= maxInterruptions;
}

function outcomeOf(status: TaskStatus): RecoveryOutcome {
  if (status === 'failed' || status === 'cancelled') return status;
  return status === 'queued' ? 'requeued' : 'resumed';
}

/** Row 18 has left it so, or a clean stop has: only the last event tells. */
function waitsForTakeUp(task: Leftover): boolean {
  return task.status === 'running' && task.owner === null;
}

function idsOf(tasks: Leftover[]): string[] {
  return tasks.map(({ id }) => id);
}

function serverRestarted(): ReturnType<DomainError['toBody']> {
  return new DomainError('server_restarted', 'The service restarted before the task had ended.').toBody();
}
