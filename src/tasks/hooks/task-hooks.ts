import { Injectable } from '@nestjs/common';
import { storageFault, type Tx } from '../../database/index.js';
import { DomainError, type ErrorBody } from '../../errors/index.js';
import { TASK_TRANSITIONS, type TaskCommand, type TaskStatus, type Transition } from '../task-transitions.js';
import type { Task } from '../task.js';
import type { RecordingRound } from './recording-round.js';
import { TaskListeners } from './task-listeners.js';
import { TaskRecorders } from './task-recorders.js';
import { taskFacts, type TaskTransition } from './task-transition.js';

/** The statuses before a transition, by task id, for hooks to be told; null: nobody asks. */
export type StatusesBefore = ReadonlyMap<string, TaskStatus> | null;

/**
 * The failed row of the status that each of these leaves (HOUSE 3.5). Of the others, `enqueue` is refused, and ends, the
 * cancel and what recovery does are written all the same.
 */
export const FAILED_IN_PLACE = {
  startLoading: 'failQueued',
  start: 'failQueued',
  startLoaded: 'failLoading',
  reloadLost: 'failLoading',
  requeueLost: 'fail',
  interruptLost: 'fail',
  takeUp: 'failUnowned',
} as const satisfies Partial<Record<TaskCommand, TaskCommand>>;

/** What extensions have to do with transitions, from inside the unit. Costs nothing where none has registered. */
@Injectable()
export class TaskHooks {
  private readonly rounds = new WeakMap<Tx, RecordingRound>();

  constructor(
    private readonly recorders: TaskRecorders,
    private readonly listeners: TaskListeners,
  ) {}

  /** In this unit failures of recorders are collected in the round, whose owner rolls it back at its end. */
  collect(tx: Tx, round: RecordingRound): void {
    this.rounds.set(tx, round);
  }

  /** Before the row changes. */
  async before(tx: Tx, command: TaskCommand, taskIds: readonly string[]): Promise<StatusesBefore> {
    if (this.recorders.isEmpty && this.listeners.isEmpty) return null;
    const { from }: Transition = TASK_TRANSITIONS[command];
    const [only] = from;
    if (from.length === 1 && only) return new Map(taskIds.map((id) => [id, only]));
    const rows = await tx.query<{ id: string; status: TaskStatus }>(
      'select id, status from tasks where id in (select value from json_each(?))',
      [JSON.stringify(taskIds)],
    );
    return new Map(rows.map(({ id, status }) => [id, status]));
  }

  /** After rows and events are written, in the same unit. Outside of a collecting round a failure is thrown. */
  async made(tx: Tx, command: TaskCommand, tasks: readonly Task[], before: StatusesBefore, at: number): Promise<void> {
    if (this.recorders.isEmpty && this.listeners.isEmpty) return;
    const transitions = tasks.map((task) => transitionOf(command, task, before?.get(task.id) ?? null, at));
    for (const transition of transitions) await this.record(tx, transition);
    tx.afterCommit(() => this.listeners.tell(transitions));
  }

  /** A create that cannot be recorded is refused with this error; null: nothing is held against it. */
  refusalOf(tx: Tx, taskId: string): DomainError | null {
    if (!this.rounds.get(tx)?.excuses.any(taskId, 'enqueue')) return null;
    return new DomainError('server_error', 'What belongs to the task could not be recorded; see the log.');
  }

  /** The row that has to be written in the place of one that cannot be recorded; null: itself. */
  inPlaceOf(tx: Tx, command: TaskCommand, taskId: string): TaskCommand | null {
    if (!this.rounds.get(tx)?.excuses.any(taskId, command)) return null;
    return (FAILED_IN_PLACE as Partial<Record<TaskCommand, TaskCommand>>)[command] ?? null;
  }

  private async record(tx: Tx, transition: TaskTransition): Promise<void> {
    const round = this.rounds.get(tx);
    for (const recorder of this.recorders.all()) {
      if (round?.excuses.has(recorder, transition)) continue;
      round?.begin(recorder, transition);
      try {
        await recorder.recorder.record(tx, transition);
        round?.end();
      } catch (error) {
        if (!round || storageFault(error)) throw error;
        round.fail(error);
      }
    }
  }
}

/** What a task fails with that cannot go on because its change could not be recorded. */
export function recorderFailed(): ErrorBody {
  const message = 'What belongs to the task could not be recorded, so it was not gone on with; see the log.';
  return new DomainError('recorder_failed', message).toBody();
}

function transitionOf(command: TaskCommand, task: Task, from: TaskStatus | null, at: number): TaskTransition {
  const { events }: Transition = TASK_TRANSITIONS[command];
  const last = events.at(-1);
  return {
    command,
    from,
    to: task.status,
    event: last === undefined || last === 'error' ? null : last,
    sequenceNumber: task.lastSequenceNumber,
    at,
    task: taskFacts(task),
  };
}
