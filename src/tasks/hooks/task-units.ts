import { Injectable } from '@nestjs/common';
import { UnitOfWork, type Tx } from '../../database/index.js';
import { Notices } from '../../notices/index.js';
import type { TaskCommand } from '../task-transitions.js';
import { StepWriteFailed } from '../tasks.errors.js';
import { Excuses, RecordingRound, type RecorderFailure } from './recording-round.js';
import { FAILED_IN_PLACE, TaskHooks } from './task-hooks.js';
import { TaskRecorders } from './task-recorders.js';

type Purpose = Parameters<UnitOfWork['run']>[1];

/** Tries of a unit with all recorders. */
const TRIES = 3;

/** What follows from the failure of a recorder. A closed set: it is a label of a metric. */
export const RECORDER_OUTCOMES = ['tried_again', 'omitted', 'refused', 'replaced'] as const;
export type RecorderOutcome = (typeof RECORDER_OUTCOMES)[number];

/**
 * Units of work for whoever makes transitions (HOUSE 3.5): as UnitOfWork, and a recorder that throws rolls the unit back.
 * It is tried three times; from then on, whatever a recorder fails at again is done without that recorder or, where it
 * is not the end of a task, not done. So `work` may be called more than once: what it leaves in memory, it takes back with
 * `afterRollback`. The same holds where a step that waits for a transition cannot be written. Without recorders it is
 * UnitOfWork itself.
 */
@Injectable()
export class TaskUnits implements Pick<UnitOfWork, 'run' | 'requireRoom'> {
  constructor(
    private readonly units: UnitOfWork,
    private readonly hooks: TaskHooks,
    private readonly recorders: TaskRecorders,
    private readonly notices: Notices,
  ) {}

  requireRoom(): Promise<void> {
    return this.units.requireRoom();
  }

  async run<T>(work: (tx: Tx) => Promise<T>, purpose?: Purpose): Promise<T> {
    for (;;) {
      try {
        return await this.runRecorded(work, purpose);
      } catch (error) {
        // The journal has refused that step by now, so the next try goes on without it, and there is an end.
        if (!(error instanceof StepWriteFailed)) throw error;
      }
    }
  }

  private async runRecorded<T>(work: (tx: Tx) => Promise<T>, purpose?: Purpose): Promise<T> {
    if (this.recorders.isEmpty) return this.units.run(work, purpose);
    const excuses = new Excuses();
    for (let tries = 1; ; tries += 1) {
      const round = new RecordingRound(excuses);
      try {
        return await this.units.run((tx) => this.recorded(tx, round, work), purpose);
      } catch (error) {
        const failures = round.behind(error);
        if (failures.length === 0) throw error;
        for (const failure of failures) this.judge(failure, excuses, tries);
      }
    }
  }

  private async recorded<T>(tx: Tx, round: RecordingRound, work: (tx: Tx) => Promise<T>): Promise<T> {
    this.hooks.collect(tx, round);
    const value = await work(tx);
    round.requireSuccess();
    return value;
  }

  /** Each turn that is not one of the first three leaves out one call at least: there is an end. */
  private judge(failure: RecorderFailure, excuses: Excuses, tries: number): void {
    const isFinal = failure.isHang || tries >= TRIES;
    if (isFinal) excuses.add(failure);
    const { recorder, taskId, command, error } = failure;
    const outcome: RecorderOutcome = isFinal ? outcomeOf(command) : 'tried_again';
    this.notices.emit('recorder.failed', { owner: recorder.owner, task_id: taskId, command, outcome, error });
  }
}

function outcomeOf(command: TaskCommand): RecorderOutcome {
  if (command === 'enqueue') return 'refused';
  return command in FAILED_IN_PLACE ? 'replaced' : 'omitted';
}
