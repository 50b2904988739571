import { DomainError, type ErrorBody, type ErrorCode } from '../errors/index.js';
import type { TaskCommand, TaskStatus } from './task-transitions.js';

export class TaskNotFound extends DomainError {
  constructor(readonly taskId: string) {
    super('task_not_found', `No task with id "${taskId}" exists.`);
  }
}

/** Interruptions used up (WIRE B6): the end of a crash loop. */
export function retryLimitExceeded(interruptions: number): ErrorBody {
  const message = `The task was given up: it was interrupted ${interruptions} times without making progress.`;
  return new DomainError('retry_limit_exceeded', message).toBody();
}

/** The command does not leave this status (WIRE B4), or the claim it came from is no longer the task's. */
export class TransitionRefused extends Error {
  constructor(
    readonly command: TaskCommand,
    readonly taskId: string,
    readonly status: TaskStatus,
  ) {
    super(`${command} is not possible: task ${taskId} is ${status}`);
    this.name = 'TransitionRefused';
  }
}

/** The task is no longer this run's: cancelled, taken up by another attempt, or ended. Nothing was written. */
export class StaleClaim extends Error {
  constructor(readonly taskId: string) {
    super(`task ${taskId} is no longer owned by this run`);
    this.name = 'StaleClaim';
  }
}

/** Two modules want one task type (HOUSE 3.4); the service does not start. */
export class TaskTypeTaken extends Error {
  constructor(
    readonly type: string,
    readonly heldBy: string,
    readonly wantedBy: string,
  ) {
    super(`task type "${type}" is registered by ${heldBy} already, and ${wantedBy} wants it, too`);
    this.name = 'TaskTypeTaken';
  }
}

/** What a handler wanted to write together with a step failed; the disk is not to blame. */
export class StepWriteFailed extends Error {
  constructor(
    readonly taskId: string,
    cause: unknown,
  ) {
    super(`what task ${taskId} writes with its step failed`, { cause });
    this.name = 'StepWriteFailed';
  }
}

/** A step of the task could not be stored, and never will be; its later ones are refused as well (HOUSE 4.8). */
export class JournalRefused extends Error {
  constructor(
    readonly taskId: string,
    readonly reason: DomainError,
    cause: unknown,
  ) {
    super(`the steps of task ${taskId} cannot be stored`, { cause });
    this.name = 'JournalRefused';
  }

  get code(): ErrorCode {
    return this.reason.code;
  }

  /** The error that the task fails with (row 8). */
  toBody(): ErrorBody {
    return this.reason.toBody();
  }
}
