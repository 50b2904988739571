import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { StoreReader } from '../database/index.js';
import { DomainError } from '../errors/index.js';
import type { KeyedRequest, RepeatAnswers } from '../http/index.js';
import { IdempotencyKeys } from './idempotency-keys.js';
import { readEvents } from './task-log.js';
import type { TaskObject } from './task-view.js';
import type { Task } from './task.js';

/** The task of a request: made for it, or for the first with its key. */
export interface AcceptedTask {
  task: Task;
  repeated: boolean;
}

const RETRY_AFTER_SECONDS = 1;

/** 202 with the task as it was accepted, to the first as to every repeat (WIRE B6). For every type but `response`. */
@Injectable()
export class AcceptedTasks implements RepeatAnswers {
  constructor(
    private readonly keys: IdempotencyKeys,
    private readonly reader: StoreReader,
  ) {}

  async answerRepeat(keyed: KeyedRequest, _request: Request, response: Response): Promise<boolean> {
    const task = await this.keys.find(keyed);
    if (task) await this.answer({ task, repeated: true }, response);
    return task !== null;
  }

  async answer({ task, repeated }: AcceptedTask, response: Response): Promise<void> {
    const body = await this.asAccepted(task);
    response.status(202).setHeader('Location', `/v1/tasks/${task.id}`);
    response.setHeader('LMSP-Task-Id', task.id);
    response.setHeader('Retry-After', RETRY_AFTER_SECONDS);
    if (repeated) response.setHeader('Idempotent-Replayed', 'true');
    response.json(body);
  }

  private async asAccepted({ id }: Task): Promise<TaskObject> {
    const [queued] = await readEvents(this.reader, id, 0, 1);
    if (queued) return (JSON.parse(queued.payload) as { task: TaskObject }).task;
    throw new DomainError('idempotency_in_progress', 'The task was removed just now; send the request again.', {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  }
}
