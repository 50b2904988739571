import type { Config } from '../../config/index.js';
import { newIdentifier, type StoreReader } from '../../database/index.js';
import { readDto } from '../../http/index.js';
import { CountedSeats } from '../counted-seats.js';
import type { Seat, TaskHandler, TaskOutcome, TaskRun, UnusableSnapshot } from '../task-handlers.js';
import { readLastSnapshotLine } from '../task-log.js';
import type { OnRestart } from '../task-transitions.js';
import type { JsonObject } from '../task.js';
import type { TaskType } from './task-type.js';
import { jsonOf, tooLarge, TypedRun } from './typed-run.js';

/** Task types state their own policy; one that says nothing may do harm when it runs twice (WIRE B3). */
export const DEFAULT_ON_RESTART: OnRestart = 'fail';
const DEFAULT_CONCURRENCY = 1;

/** What a type needs of the service. */
export interface TaskTypeSurroundings {
  readonly reader: StoreReader;
  readonly config: Config;
  /** A seat of the type has become free. */
  freed(type: string): void;
}

/** Runs the tasks of an extension's type: seats in this process, the last snapshot line as the cursor. */
export class TaskTypeHandler<Input extends object, Cursor> implements TaskHandler {
  readonly type: string;
  readonly defaultOnRestart: OnRestart;
  readonly timeLimitSeconds?: number;
  private readonly seats: CountedSeats;

  constructor(
    private readonly definition: TaskType<Input, Cursor>,
    private readonly around: TaskTypeSurroundings,
  ) {
    this.type = definition.type;
    this.defaultOnRestart = definition.onRestart ?? DEFAULT_ON_RESTART;
    if (definition.timeLimitSeconds !== undefined) this.timeLimitSeconds = definition.timeLimitSeconds;
    const most = definition.concurrency ?? DEFAULT_CONCURRENCY;
    this.seats = new CountedSeats(newIdentifier('type'), most, () => around.freed(this.type));
  }

  seat(): Seat | null {
    return this.seats.take();
  }

  /** Whatever the cursor says can be gone on from. */
  takeUp(): Promise<UnusableSnapshot | null> {
    return Promise.resolve(null);
  }

  async run(run: TaskRun): Promise<TaskOutcome> {
    const { task, signal } = run;
    const { reader, config } = this.around;
    const input = this.readInput(task.input ?? {});
    const cursor = run.resumed ? await readLastSnapshotLine(reader, task.id, task.startCount) : null;
    const typed = new TypedRun<Input, Cursor>(run, input, cursor, config.maxTaskStepBytes);
    try {
      const result = await this.definition.run(typed);
      await typed.saved();
      return this.completed(result);
    } catch (error) {
      if (signal.aborted) return { kind: 'aborted' };
      throw error;
    }
  }

  /** Throws a DomainError whose `param` begins with `input`. */
  readInput(input: JsonObject): Input {
    return readDto(this.definition.input, input, this.around.config.maxInputItems, 'input');
  }

  private completed(result: JsonObject | null): TaskOutcome {
    if (result === null) return { kind: 'completed' };
    const text = jsonOf(result, `the result of a task of type "${this.type}"`);
    if (!text.startsWith('{')) throw new TypeError(`the result of a task of type "${this.type}" must be an object`);
    const [bytes, most] = [Buffer.byteLength(text), this.around.config.maxTaskStepBytes];
    if (bytes > most) throw tooLarge('the result', this.type, bytes, most);
    return { kind: 'completed', result };
  }
}
