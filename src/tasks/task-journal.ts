import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../config/index.js';
import { Batcher, storageFault, UnitOfWork, type Tx } from '../database/index.js';
import { DomainError } from '../errors/index.js';
import { Notices } from '../notices/index.js';
import { EventFeed } from './event-feed.js';
import { keyOf, writeSteps, type StepGroup } from './step-writer.js';
import type { Claim } from './task.js';
import type { StepWrite, TaskStep } from './task-handlers.js';
import { JournalRefused, StaleClaim, StepWriteFailed } from './tasks.errors.js';

interface ClaimedStep {
  claim: Claim;
  step: TaskStep;
  proven: boolean;
  write?: StepWrite;
}

/** Steps that share a commit, at most. Each is small: one token's events. */
const STEPS_PER_COMMIT = 256;

/**
 * Steps on their way to disk: whatever arrives while a commit runs forms the next, set-wise one, and readers hear of it
 * after the commit (invariant 8). A step that cannot be stored makes all later ones of its task refused, so that no log
 * has a hole; its neighbours in the batch are not touched (HOUSE 4.8).
 */
@Injectable()
export class TaskJournal {
  private readonly batcher: Batcher<ClaimedStep, void>;
  private readonly refused = new Map<string, JournalRefused>();
  private readonly pending = new Set<Promise<void>>();
  /** Tasks whose end is being written. */
  private readonly ending = new Set<string>();

  constructor(
    units: UnitOfWork,
    private readonly feed: EventFeed,
    private readonly notices: Notices,
    @Inject(CONFIG) config: Config,
  ) {
    this.batcher = new Batcher({
      units,
      kind: 'steps',
      maxBatch: STEPS_PER_COMMIT,
      storageWaitMs: () => config.storageWaitSeconds * 1000,
      gathers: ({ step }) => step.gathers === true,
      gatherMs: config.stepGatherMs,
      keeps: ({ claim }) => this.ending.has(claim.taskId),
      run: (tx, steps) => this.write(tx, steps),
    });
  }

  /**
   * Resolves when the step is on disk; rejects with StaleClaim or JournalRefused. `proven`: with this step nothing is
   * held against the task any more. `write`: rows of others in the same transaction (TaskRun.append).
   */
  append(claim: Claim, step: TaskStep, proven = false, write?: StepWrite): Promise<void> {
    const refusal = this.refused.get(claim.taskId);
    if (refusal) return Promise.reject(refusal);
    const since = performance.now();
    const stored = this.batcher.submit({ claim, step, proven, write }).then(
      () => this.tellStored(claim, step, performance.now() - since),
      (error: unknown) => {
        throw error instanceof StaleClaim ? error : this.refuse(claim.taskId, error);
      },
    );
    const settled = stored.catch(() => undefined).finally(() => this.pending.delete(settled));
    this.pending.add(settled);
    return stored;
  }

  /**
   * Writes the waiting steps of tasks into the unit of their transitions, before its events. StepWriteFailed: what one of them writes
   * failed, and its task's steps are refused from now on; the unit has to be tried again, without them.
   */
  async flushInto(tx: Tx, taskIds: ReadonlySet<string>): Promise<void> {
    const waiting = this.batcher.take(tx, ({ claim }) => taskIds.has(claim.taskId));
    if (waiting.length === 0) return;
    const steps = waiting.map(({ input }) => input);
    const outcomes = await this.write(tx, steps).catch((error: unknown) => {
      if (error instanceof StepWriteFailed) this.refuse(error.taskId, error);
      throw error;
    });
    tx.afterCommit(() => {
      waiting.forEach(({ resolve, reject }, i) => {
        try {
          resolve(outcomes[i]?.());
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  /** Refuses the steps that wait for the task and all later ones. */
  refuse(taskId: string, cause: unknown): JournalRefused {
    const known = this.refused.get(taskId);
    if (known) return known;
    const reason = refusalFor(cause);
    if (reason.code === 'server_error') this.notices.emit('task.fault', { task_id: taskId, error: cause });
    const refusal = new JournalRefused(taskId, reason, cause);
    this.refused.set(taskId, refusal);
    return refusal;
  }

  refusalOf(taskId: string): JournalRefused | null {
    return this.refused.get(taskId) ?? null;
  }

  /** The output is whole: no fault of the disk refuses its last steps, which the end takes along (HOUSE 4.8). */
  keep(taskId: string): void {
    this.ending.add(taskId);
  }

  /** The attempt is over; a later one begins with a clean slate. */
  forget(taskId: string): void {
    this.ending.delete(taskId);
    this.refused.delete(taskId);
  }

  /** Resolves when no step waits any more. */
  async drained(): Promise<void> {
    while (this.pending.size > 0) await Promise.all(this.pending);
  }

  private tellStored({ taskId }: Claim, { events }: TaskStep, durationMs: number): void {
    this.notices.emit('step.stored', { task_id: taskId, events: events.length, duration_ms: durationMs });
  }

  private async write(tx: Tx, steps: ClaimedStep[]): Promise<Array<() => void>> {
    const groups = new Map<string, StepGroup>();
    for (const { claim, step, proven } of steps) {
      if (this.refused.has(claim.taskId)) continue;
      const key = keyOf(claim);
      const group = groups.get(key) ?? { claim, steps: [], proven: false };
      groups.set(key, group);
      group.steps.push(step);
      group.proven ||= proven;
    }
    const written = await writeSteps(tx, [...groups.values()]);
    const stale = new Set<string>();
    [...groups.keys()].forEach((key, i) => {
      const events = written[i];
      const { taskId } = groups.get(key)?.claim ?? { taskId: '' };
      if (!events) stale.add(key);
      else tx.afterCommit(() => this.feed.publish(taskId, events));
    });
    for (const { claim, write: rows } of steps) {
      if (rows && !this.refused.has(claim.taskId) && !stale.has(keyOf(claim))) await writeRows(tx, claim, rows);
    }
    return steps.map(({ claim }) => () => {
      const refusal = this.refused.get(claim.taskId);
      if (refusal) throw refusal;
      if (stale.has(keyOf(claim))) throw new StaleClaim(claim.taskId);
    });
  }
}

async function writeRows(tx: Tx, { taskId }: Claim, rows: StepWrite): Promise<void> {
  try {
    await rows(tx);
  } catch (error) {
    throw storageFault(error) ? error : new StepWriteFailed(taskId, error);
  }
}

/** What a task fails with whose steps cannot be stored: in the words of the handler where its own rows are the reason. */
function refusalFor(cause: unknown): DomainError {
  if (cause instanceof StepWriteFailed && cause.cause instanceof DomainError) return cause.cause;
  const fault = storageFault(cause);
  const code = fault === null ? 'server_error' : fault === 'full' ? 'storage_full' : 'storage_busy';
  return new DomainError(code, 'The output of the task could not be stored.');
}
