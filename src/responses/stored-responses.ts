import { Injectable } from '@nestjs/common';
import { UnitOfWork } from '../database/index.js';
import { DomainError } from '../errors/index.js';
import { TaskCancellation, TaskLifecycleService, type JsonObject } from '../tasks/index.js';
import { Conversations } from './conversations.js';
import type { ResponseObject } from './response-object.js';
import { ResponseStore, type StoredResponse } from './response-store.js';
import { responseInProgress, responseNotCancellable, responseNotFound } from './responses.errors.js';

export interface InputItemsRequest {
  limit: number;
  order: 'asc' | 'desc';
  /** Id of the item behind which the page begins. */
  after: string | null;
}

/** What a client may do with its stored responses. Every method throws response_not_found for foreign and missing ids. */
@Injectable()
export class StoredResponses {
  constructor(
    private readonly store: ResponseStore,
    private readonly units: UnitOfWork,
    private readonly lifecycle: TaskLifecycleService,
    private readonly cancellation: TaskCancellation,
    private readonly conversations: Conversations,
  ) {}

  async get(id: string, clientId: string): Promise<StoredResponse> {
    const stored = await this.store.find(id, clientId);
    if (!stored) throw responseNotFound(id);
    return stored;
  }

  /** Deletes the response with its task and events. Throws response_in_progress while it is unfinished. */
  async remove(id: string, clientId: string): Promise<void> {
    const { taskId, body } = await this.get(id, clientId);
    // An end is final, so what was read here still holds in the unit; the database refuses anything else (R5).
    if (body.status === 'queued' || body.status === 'in_progress') throw responseInProgress(id);
    await this.units.run(async (tx) => {
      await this.lifecycle.remove(tx, taskId);
      await this.store.remove(tx, id);
    });
  }

  /** WIRE B4, cancel. Throws response_not_cancellable for one that ended otherwise. */
  async cancel(id: string, clientId: string): Promise<ResponseObject> {
    const { taskId, body } = await this.get(id, clientId);
    if (body.status === 'cancelled') return body;
    try {
      await this.cancellation.cancel(taskId);
    } catch (error) {
      const ended = error instanceof DomainError && ['task_not_cancellable', 'task_not_found'].includes(error.code);
      if (!ended) throw error;
      throw responseNotCancellable((await this.get(id, clientId)).body.status);
    }
    return (await this.get(id, clientId)).body;
  }

  /** A page of the input items, those of the conversation before included. Throws invalid_cursor when `after` is none of them. */
  async inputItems(
    id: string,
    clientId: string,
    { limit, order, after }: InputItemsRequest,
  ): Promise<{ items: JsonObject[]; hasMore: boolean }> {
    const stored = await this.conversations.inputOf(id, clientId);
    if (!stored) throw responseNotFound(id);
    const items = order === 'asc' ? stored : [...stored].reverse();
    const start = after === null ? 0 : items.findIndex((item) => item['id'] === after) + 1;
    if (after !== null && start === 0) {
      throw new DomainError('invalid_cursor', "'after' must be the id of an input item.", { param: 'after' });
    }
    return { items: items.slice(start, start + limit), hasMore: items.length > start + limit };
  }
}
