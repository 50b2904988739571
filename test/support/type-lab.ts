import type { Config } from '../../src/config/index.js';
import { loadConfig } from '../../src/config/index.js';
import type { Task, TaskDraft } from '../../src/tasks/index.js';
import { TaskTypes } from '../../src/tasks/types/task-types.js';
import { CountingType } from './counting-type.js';
import { TaskLab } from './task-lab.js';

/** A task type of an author on the tasks module, without HTTP. */
export class TypeLab {
  private constructor(
    readonly lab: TaskLab,
    readonly counting: CountingType,
    readonly types: TaskTypes,
  ) {}

  static async open(counting = new CountingType(), env: Record<string, string> = {}): Promise<TypeLab> {
    return TypeLab.on(await TaskLab.open(env), counting, loadConfig(env));
  }

  /** What the next process finds. The runs of this one are left as they are: it is gone. */
  async crashed(counting = new CountingType()): Promise<TypeLab> {
    const next = TypeLab.on(await this.lab.reopened(), counting, loadConfig({}));
    counting.begun.push(...this.counting.begun);
    return next;
  }

  private static on(lab: TaskLab, counting: CountingType, config: Config): TypeLab {
    const types = new TaskTypes(lab.handlers, lab.runner, lab.store.reader, config);
    types.register('the test', counting);
    return new TypeLab(lab, counting, types);
  }

  async create(upTo: number, overrides: Partial<TaskDraft> = {}): Promise<Task> {
    const task = await this.lab.create({ type: this.counting.type, input: { upTo }, onRestart: 'fail', ...overrides });
    this.lab.runner.wake(task.type, null);
    return task;
  }

  /** Begins to run what waits; recovery first, as a start does. */
  async start(): Promise<void> {
    await this.lab.recovery.run(() => undefined);
    await this.lab.runner.start();
  }

  async ended(id: string): Promise<Task> {
    await this.lab.stream.ended(id, AbortSignal.timeout(10_000));
    return this.lab.task(id);
  }

  /** Steps that were begun, in all processes. */
  steps(id: string): number[] {
    const own = this.counting.begun.filter((step) => step.startsWith(`${id}:`));
    return own.map((step) => Number(step.split(':')[1]));
  }

  /** Numbers that the task's log says. */
  async counted(id: string): Promise<number[]> {
    const events = (await this.lab.events(id)).filter(({ type }) => type === `${this.counting.type}.counted`);
    return events.map(({ payload }) => (JSON.parse(payload) as { number: number }).number);
  }
}
