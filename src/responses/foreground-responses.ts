import { Injectable } from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import { DomainError, type ErrorCode } from '../errors/index.js';
import { disconnection } from '../http/index.js';
import { TaskEventStream, type Task } from '../tasks/index.js';
import { ForegroundOwnership } from './foreground-ownership.js';
import { responseNotFound } from './responses.errors.js';
import type { ResponseObject } from './response-object.js';
import { ResponseStore } from './response-store.js';
import type { ResponseStream } from './response-streams.js';

/** Stored responses that belong to the connections that wait for them (WIRE B3, foreground). */
@Injectable()
export class ForegroundResponses {
  constructor(
    private readonly store: ResponseStore,
    private readonly log: TaskEventStream,
    private readonly ownership: ForegroundOwnership,
  ) {}

  /**
   * The response at its end, or null when the client left first. Throws the error of a failed one. A route may have
   * cancelled it: then the cancelled response is the answer.
   */
  async outcome(task: Task, keyed: boolean, response: ServerResponse): Promise<ResponseObject | null> {
    const gone = disconnection(response);
    await this.whileOwned(task.id, keyed, gone, () => this.log.ended(task.id, gone));
    if (gone.aborted) return null;
    const id = task.responseId ?? '';
    const stored = await this.store.find(id, task.clientId);
    if (!stored) throw responseNotFound(id);
    return successOf(stored.body);
  }

  /** Sends the events from 0 to a connection that the task belongs to meanwhile. */
  async stream(task: Task, keyed: boolean, response: ServerResponse, stream: ResponseStream): Promise<void> {
    await this.whileOwned(task.id, keyed, disconnection(response), () => stream.stored(task.id, -1));
  }

  private async whileOwned(
    taskId: string,
    keyed: boolean,
    gone: AbortSignal,
    untilEnd: () => Promise<void>,
  ): Promise<void> {
    const share = this.ownership.join(taskId, keyed);
    let ended = false;
    try {
      await untilEnd();
      ended = !gone.aborted;
    } finally {
      share.leave(ended);
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
