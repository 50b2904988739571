import { Injectable } from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import { DomainError } from '../errors/index.js';
import { EventStreams, SharedFrames, type StreamKind } from '../http/index.js';
import { TaskEventStream, type OpenedLog, type StoredEvent } from '../tasks/index.js';

/** OpenAI clients ignore it, Open Responses demands it (WIRE B5). */
const DONE = '[DONE]';

const FRAMES = new SharedFrames(({ type, payload }: StoredEvent) => ({ event: type, data: payload }));

/** A place for one stream on one connection. */
export interface ResponseStream {
  /**
   * Sends the stored events behind the cursor, then live. Throws invalid_cursor, and event_log_expired when the
   * response has outlived its log.
   */
  stored(taskId: string, after: number): Promise<void>;
  /** Sends events that are made as they are read. */
  live(events: (signal: AbortSignal) => AsyncIterable<StoredEvent>): Promise<void>;
}

/** Event logs as /v1/responses streams them: no ids, the cursor in the data, `[DONE]` at the end. */
@Injectable()
export class ResponseStreams {
  constructor(
    private readonly streams: EventStreams,
    private readonly log: TaskEventStream,
  ) {}

  /** Runs `work` with a place that is taken before; throws rate_limit_exceeded while there is none. */
  withPlace(
    kind: StreamKind,
    response: ServerResponse,
    work: (stream: ResponseStream) => Promise<void>,
  ): Promise<void> {
    return this.streams.withPlace(kind, (send) => {
      const live: ResponseStream['live'] = (events) =>
        send(response, { frames: (signal) => FRAMES.of(events(signal)), done: DONE });
      return work({
        live,
        stored: async (taskId, after) => {
          const log = await this.open(taskId, after);
          await live((signal) => log.events(signal));
        },
      });
    });
  }

  private async open(taskId: string, after: number): Promise<OpenedLog> {
    try {
      return await this.log.open(taskId, after);
    } catch (error) {
      if (!(error instanceof DomainError) || error.code !== 'task_not_found') throw error;
      throw new DomainError('event_log_expired', 'The events of this response are no longer kept.');
    }
  }
}
