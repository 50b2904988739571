import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { NO_ORIGIN } from '../audit/index.js';
import { CONFIG, type Config } from '../config/index.js';
import { newIdentifier, StoreReader, type Tx } from '../database/index.js';
import type { ExaminedModel } from '../models/index.js';
import {
  CountedSeats,
  isTerminalEvent,
  readSnapshot,
  TaskHandlers,
  TaskRunner,
  taskPayload,
  type Seat,
  type Task,
  type TaskChange,
  type TaskHandler,
  type TaskOutcome,
  type TaskRun,
  type UnusableSnapshot,
} from '../tasks/index.js';
import { asNoRoom } from './disk-room.js';
import { PullAttempt } from './pull-attempt.js';
import { inputOf, PULL_TASK_TYPE } from './pull-input.js';
import { PullTools } from './pull-tools.js';

/**
 * Runs tasks of type `model.pull`. Their cursor is the commit that was found for the revision; what was fetched lies on
 * disk and is found there. The model is registered in the unit that completes the task, so that neither is there without
 * the other, and a pull that is cancelled in that moment leaves no model.
 */
@Injectable()
export class PullHandler implements TaskHandler, OnModuleInit {
  readonly type = PULL_TASK_TYPE;
  readonly createdBy = 'POST /v1/models/pull';
  /** To go on is harmless: the commit is pinned and every file is checked by its digest. */
  readonly defaultOnRestart = 'resume';
  /** A large model on a slow line takes its time; what counts is that something comes. */
  readonly timeLimitSeconds = 0;
  private readonly seats: CountedSeats;
  /** Folders that were examined and are not models yet, by task. */
  private readonly pulled = new Map<string, ExaminedModel>();

  constructor(
    private readonly handlers: TaskHandlers,
    runner: TaskRunner,
    private readonly reader: StoreReader,
    private readonly tools: PullTools,
    @Inject(CONFIG) private readonly config: Config,
  ) {
    this.seats = new CountedSeats(newIdentifier('pulls'), config.maxPulls, () => runner.wake(this.type, null));
  }

  onModuleInit(): void {
    this.handlers.register(this);
  }

  seat(): Seat | null {
    return this.seats.take();
  }

  /** Whatever lies on disk can be gone on from. */
  takeUp(): Promise<UnusableSnapshot | null> {
    return Promise.resolve(null);
  }

  async run(run: TaskRun): Promise<TaskOutcome> {
    const { task, signal } = run;
    try {
      const { examined, result } = await new PullAttempt(run, this.tools).model(await this.pinned(task));
      this.pulled.set(task.id, examined);
      return { kind: 'completed', result };
    } catch (error) {
      if (signal.aborted) return { kind: 'aborted' };
      // Folders and notes of a pull need room, too.
      throw asNoRoom(error);
    }
  }

  async project(tx: Tx, changes: TaskChange[]): Promise<string[]> {
    for (const { task, event } of changes) {
      if (event === 'response.completed') await this.adopt(tx, task);
      if (isTerminalEvent(event)) tx.afterCommit(() => this.pulled.delete(task.id));
    }
    return changes.map(({ task }) => JSON.stringify(taskPayload(task, this.config)));
  }

  /** Inside the unit of row 6. */
  private async adopt(tx: Tx, task: Task): Promise<void> {
    const examined = this.pulled.get(task.id);
    if (!examined) throw new Error(`the folder of ${task.id} was not examined`);
    const { repository, revision } = inputOf(task);
    const commit = typeof task.result?.commit === 'string' ? task.result.commit : null;
    const detail = { repository, revision, commit, task_id: task.id };
    await this.tools.adoption.adopt(tx, examined, { ...NO_ORIGIN, actor: task.clientId }, detail);
  }

  private async pinned({ id, startCount }: Task): Promise<string | null> {
    const last = (await readSnapshot(this.reader, id, startCount)).at(-1);
    return last === undefined ? null : (JSON.parse(last) as { commit: string }).commit;
  }
}
