import { Injectable } from '@nestjs/common';
import { Notices } from '../notices/index.js';
import { EventFeed } from './event-feed.js';
import type { UnusableSnapshot } from './task-handlers.js';
import type { StoredEvent } from './task-log.js';
import { TASK_TRANSITIONS, type TaskCommand, type Transition } from './task-transitions.js';
import type { Task } from './task.js';

/** Tells readers and the service itself what the lifecycle has written, after the commit. */
@Injectable()
export class TaskNews {
  constructor(
    private readonly feed: EventFeed,
    private readonly notices: Notices,
  ) {}

  /** @param logs the events that were appended, by the id of their task */
  made(command: TaskCommand, tasks: Task[], logs: ReadonlyMap<string, StoredEvent[]>, at: number): void {
    for (const task of tasks) {
      this.feed.publish(task.id, logs.get(task.id) ?? []);
      this.announce(command, task, at);
    }
  }

  unusable(taskId: string, reason: UnusableSnapshot): void {
    this.notices.emit('task.snapshot_unusable', { task_id: taskId, reason });
  }

  /** The log of the task is gone: its readers look and find that. */
  removed(taskId: string): void {
    this.feed.nudge(taskId);
  }

  private announce(command: TaskCommand, task: Task, now: number): void {
    const { from, events, raisesAttempt }: Transition = TASK_TRANSITIONS[command];
    this.notices.emit('task.transition', {
      task_id: task.id,
      client_id: task.clientId,
      type: task.type,
      model: task.model,
      background: task.background,
      on_restart: task.onRestart,
      command,
      from: from.length === 1 ? (from[0] ?? null) : null,
      to: task.status,
      attempt: task.attempt,
      events: events.length,
      waited_ms: raisesAttempt && task.attempt === 1 ? now - task.createdAt : null,
      duration_ms: task.finishedAt === null ? null : now - task.createdAt,
      error_code: task.error?.code ?? null,
    });
  }
}
