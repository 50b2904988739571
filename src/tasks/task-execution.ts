import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../config/index.js';
import { DomainError } from '../errors/index.js';
import { Notices } from '../notices/index.js';
import type { ActiveRun } from './active-run.js';
import { TaskEnd } from './task-end.js';
import type { StepWrite, TaskOutcome, TaskStep } from './task-handlers.js';
import { TaskJournal } from './task-journal.js';
import { TaskStart } from './task-start.js';
import { JournalRefused, StaleClaim } from './tasks.errors.js';

/** Steps on disk after which a task that lost its runner is held to be harmless (WIRE B6). */
const STEPS_OF_PROOF = 8;

/** Carries one attempt from its claim to its end: load, run, normalise the outcome once, settle. */
@Injectable()
export class TaskExecution {
  constructor(
    private readonly start: TaskStart,
    private readonly end: TaskEnd,
    private readonly journal: TaskJournal,
    private readonly notices: Notices,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** Never rejects. False: the end could not be written, and the row is as it was. */
  async execute(run: ActiveRun): Promise<boolean> {
    let limit: NodeJS.Timeout | undefined;
    try {
      if (await this.start.running(run)) {
        limit = this.startTimeLimit(run);
        await this.end.write(run, await this.outcome(run));
      }
      return true;
    } catch (error) {
      this.notices.emit('task.fault', { task_id: run.claim.taskId, error });
      return false;
    } finally {
      clearTimeout(limit);
      this.journal.forget(run.claim.taskId);
      run.claimed.seat.release();
    }
  }

  private startTimeLimit(run: ActiveRun): NodeJS.Timeout | undefined {
    const seconds = run.claimed.handler.timeLimitSeconds ?? this.config.taskTimeoutSeconds;
    if (seconds === 0) return undefined;
    const error = new DomainError('task_timeout', `The task ran longer than ${seconds} seconds.`).toBody();
    return setTimeout(() => run.stop(error), Math.min(seconds * 1000, 2 ** 31 - 1)).unref();
  }

  private async outcome(run: ActiveRun): Promise<TaskOutcome> {
    const { seat, handler, resumed } = run.claimed;
    const { task } = run;
    try {
      const work = handler.run({
        task,
        seat,
        resumed,
        proven: task.suspicion > 0 ? run.proven : null,
        signal: run.abort.signal,
        append: (step, write) => this.append(run, step, write),
        progress: (progress) => {
          run.progress = progress;
        },
      });
      const outcome = await withGrace(work, run.abort.signal, this.config.cancelGraceSeconds * 1000);
      if (outcome.kind === 'aborted' && !run.abort.signal.aborted) throw new Error('the handler gave up unasked');
      return outcome;
    } catch (error) {
      if (error instanceof StaleClaim) return { kind: 'aborted' };
      if (error instanceof JournalRefused) return { kind: 'failed', error: error.toBody() };
      if (error instanceof DomainError) return { kind: 'failed', error: error.toBody() };
      this.notices.emit('task.fault', { task_id: task.id, error });
      return { kind: 'failed', error: new DomainError('server_error', 'The task failed unexpectedly.').toBody() };
    }
  }

  private async append(run: ActiveRun, step: TaskStep, write?: StepWrite): Promise<void> {
    run.steps += 1;
    const proven = run.task.suspicion > 0 && run.steps === STEPS_OF_PROOF;
    await this.journal.append(run.claim, step, proven, write);
    if (proven) run.prove();
  }
}

/** After an abort the work has `graceMs` to end; then it is fenced off and counts as aborted. */
async function withGrace(work: Promise<TaskOutcome>, signal: AbortSignal, graceMs: number): Promise<TaskOutcome> {
  let timer: NodeJS.Timeout | undefined;
  const fencedOff = new Promise<TaskOutcome>((resolve) => {
    const start = (): void => {
      timer = setTimeout(() => resolve({ kind: 'aborted' }), graceMs);
    };
    if (signal.aborted) start();
    else signal.addEventListener('abort', start, { once: true });
  });
  try {
    return await Promise.race([work, fencedOff]);
  } finally {
    clearTimeout(timer);
  }
}
