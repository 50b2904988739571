import { UnawaitedStatement, UnitTimedOut } from '../../database/index.js';
import type { TaskCommand } from '../task-transitions.js';
import type { RegisteredRecorder } from './task-recorders.js';
import type { TaskTransition } from './task-transition.js';

/** A recorder that did not get its rows written with a transition. */
export interface RecorderFailure {
  readonly recorder: RegisteredRecorder;
  readonly taskId: string;
  readonly command: TaskCommand;
  readonly error: unknown;
  /** It did not return in time: to try it again would hold up everybody once more. */
  readonly isHang: boolean;
}

/** The try is to be rolled back: recorders have failed in it. */
export class RecordersFailed extends Error {
  constructor() {
    super('recorders have failed in this unit');
    this.name = 'RecordersFailed';
  }
}

/** Recorders that a unit goes on without, by the change that each could not record. */
export class Excuses {
  private readonly byChange = new Map<string, Set<RegisteredRecorder>>();

  add({ recorder, taskId, command }: RecorderFailure): void {
    const change = nameOf(taskId, command);
    const recorders = this.byChange.get(change) ?? new Set();
    this.byChange.set(change, recorders.add(recorder));
  }

  /** Some recorder could not record this change. */
  any(taskId: string, command: TaskCommand): boolean {
    return this.byChange.has(nameOf(taskId, command));
  }

  has(recorder: RegisteredRecorder, { task, command }: TaskTransition): boolean {
    return this.byChange.get(nameOf(task.id, command))?.has(recorder) ?? false;
  }
}

/**
 * What recorders did in one try of a unit. A failure does not end the try at once, although nothing of it is kept: so one
 * try finds all that fail, and a unit of 500 tasks is not tried 500 times.
 */
export class RecordingRound {
  private readonly failures: RecorderFailure[] = [];
  private readonly calls: Omit<RecorderFailure, 'error' | 'isHang'>[] = [];
  private isRecording = false;

  constructor(readonly excuses: Excuses) {}

  begin(recorder: RegisteredRecorder, { task, command }: TaskTransition): void {
    this.calls.push({ recorder, taskId: task.id, command });
    this.isRecording = true;
  }

  end(): void {
    this.isRecording = false;
  }

  fail(error: unknown): void {
    this.isRecording = false;
    const call = this.calls.at(-1);
    if (call) this.failures.push({ ...call, error, isHang: false });
  }

  requireSuccess(): void {
    if (this.failures.length > 0) throw new RecordersFailed();
  }

  /** The failures that the error of this try comes from; none: it has other reasons. */
  behind(error: unknown): RecorderFailure[] {
    if (error instanceof RecordersFailed) return this.failures;
    const last = this.calls.at(-1);
    if (error instanceof UnitTimedOut && this.isRecording && last) return [{ ...last, error, isHang: true }];
    // Whose statement it was nobody knows; without recorders the next tries will tell.
    if (error instanceof UnawaitedStatement) return this.calls.map((call) => ({ ...call, error, isHang: false }));
    return [];
  }
}

function nameOf(taskId: string, command: TaskCommand): string {
  return `${taskId} ${command}`;
}
