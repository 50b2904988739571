import { Injectable } from '@nestjs/common';
import { DomainError, type ErrorCode } from '../errors/index.js';
import { EventStreams } from '../http/index.js';
import { TaskCancellation, TaskEventStream, type Task } from '../tasks/index.js';
import { responseNotFound } from './responses.errors.js';
import type { ResponseObject } from './response-object.js';
import { ResponseStore } from './response-store.js';

/** Stored responses that belong to the connection that waits for them (WIRE B3, foreground). */
@Injectable()
export class ForegroundResponses {
  constructor(
    private readonly store: ResponseStore,
    private readonly log: TaskEventStream,
    private readonly cancellation: TaskCancellation,
    private readonly streams: EventStreams,
  ) {}

  /**
   * The response at its end, or null when the client left first. Throws the error of a failed one. A route may have
   * cancelled it: then the cancelled response is the answer.
   */
  async outcome(task: Task, gone: AbortSignal): Promise<ResponseObject | null> {
    await this.log.ended(task.id, gone);
    if (gone.aborted) {
      await this.abandon(task.id);
      return null;
    }
    const id = task.responseId ?? '';
    const stored = await this.store.find(id, task.clientId);
    if (!stored) throw responseNotFound(id);
    return successOf(stored.body);
  }

  /** The client has left: nobody would read the rest. During a stop a closed connection says nothing (WIRE B6). */
  async abandon(taskId: string): Promise<void> {
    if (this.streams.stopping) return;
    try {
      await this.cancellation.cancel(taskId);
    } catch (error) {
      const tooLate = error instanceof DomainError && ['task_not_cancellable', 'task_not_found'].includes(error.code);
      if (!tooLate) throw error;
    }
  }
}

/** The response, or its failure as the error of the request. */
export function successOf(response: ResponseObject): ResponseObject {
  const { error } = response;
  if (response.status !== 'failed' || !error) return response;
  // Only codes of ours are ever stored.
  throw new DomainError(error.code as ErrorCode, error.message, { param: error.param });
}
