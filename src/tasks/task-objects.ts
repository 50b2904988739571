import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../config/index.js';
import { TaskHandlers } from './task-handlers.js';
import { TaskQueries } from './task-queries.js';
import { TaskRunner } from './task-runner.js';
import { taskToWire, type TaskObject } from './task-view.js';
import { isTerminal } from './task-transitions.js';
import type { Task } from './task.js';

/** Task objects with what is live about them: place in the queue and progress (WIRE B4). */
@Injectable()
export class TaskObjects {
  constructor(
    private readonly queries: TaskQueries,
    private readonly runner: TaskRunner,
    private readonly handlers: TaskHandlers,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  async one(task: Task): Promise<TaskObject> {
    return this.view(task, await this.queries.queuePosition(task));
  }

  /** For lists: the place in the queue is left unknown, since counting it for each would cost a query each. */
  many(tasks: Task[]): TaskObject[] {
    return tasks.map((task) => this.view(task, null));
  }

  private view(task: Task, queuePosition: number | null): TaskObject {
    return taskToWire(task, {
      queuePosition,
      progress: this.runner.progressOf(task.id),
      waitPhase: isTerminal(task.status) ? null : this.handlers.waitPhase(task.type, task.model),
      retentionSeconds: this.config.retentionTasksSeconds,
    });
  }
}
