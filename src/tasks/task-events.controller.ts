import { Controller, Get, Headers, HttpStatus, Param, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { CurrentClient, RequireScope, type Client } from '../clients/index.js';
import {
  Cursor,
  EventStreams,
  parseCursor,
  QueryFields,
  SharedFrames,
  WholeNumber,
  type QueryOf,
} from '../http/index.js';
import { DescribeRoute, Tag } from '../openapi/index.js';
import { TaskEventStream } from './task-event-stream.js';
import type { StoredEvent } from './task-log.js';
import { TaskQueries } from './task-queries.js';
import { EVENT_PAGE, TASK_EVENT } from './task-schema.js';

const RECONNECT_MS = 2000;
const LAST_EVENT_ID = 'last-event-id';

const EVENTS_FIELDS = {
  starting_after: new Cursor(),
  limit: new WholeNumber({ min: 1, max: 1000, fallback: 100 }),
};
const EVENTS_QUERY = new QueryFields(EVENTS_FIELDS);

const FRAMES = new SharedFrames(({ sequenceNumber, type, payload }: StoredEvent) => ({
  id: sequenceNumber,
  event: type,
  data: payload,
}));

/** GET /v1/tasks/{id}/events: a stream that resumes by Last-Event-ID, or a page of JSON (WIRE B5). */
@Tag('Tasks')
@Controller('v1/tasks/:id/events')
export class TaskEventsController {
  constructor(
    private readonly queries: TaskQueries,
    private readonly log: TaskEventStream,
    private readonly streams: EventStreams,
  ) {}

  @Get()
  @RequireScope('tasks:read')
  @DescribeRoute({
    id: 'listTaskEvents',
    summary: "Reads or follows a task's event log",
    description:
      'A page of JSON, or with `Accept: text/event-stream` a stream that ends with the task. A stream resumes after ' +
      '`Last-Event-ID`, else after `starting_after`; the same number always has the same bytes.',
    query: EVENTS_QUERY.schemas,
    headers: { 'Last-Event-ID': 'Sequence number of the last event that was received' },
    answers: {
      200: { description: 'A page, or the stream', schema: EVENT_PAGE, events: TASK_EVENT },
      204: { description: 'The task has ended and there are no later events (streams only)' },
    },
    errors: ['task_not_found', 'invalid_cursor', 'invalid_value', 'event_log_expired', 'rate_limit_exceeded'],
  })
  async events(
    @CurrentClient() client: Client,
    @Param('id') id: string,
    @Headers() headers: Record<string, string | undefined>,
    @Query(EVENTS_QUERY) query: QueryOf<typeof EVENTS_FIELDS>,
    @Res() response: Response,
  ): Promise<void> {
    const { id: taskId } = await this.queries.get(id, client.id);
    response.setHeader('LMSP-Task-Id', taskId);
    if (!headers['accept']?.includes('text/event-stream')) {
      await this.page(taskId, query.starting_after, query.limit, response);
      return;
    }
    // The reconnect repeats the URL with its old cursor, so the header wins.
    const lastEventId = headers[LAST_EVENT_ID];
    const after = lastEventId ? parseCursor(lastEventId, 'Last-Event-ID') : query.starting_after;
    await this.stream(taskId, after, response);
  }

  private async stream(taskId: string, after: number, response: Response): Promise<void> {
    await this.streams.withPlace('reader', async (send) => {
      const log = await this.log.open(taskId, after);
      if (log.finished && after === log.lastSequenceNumber) {
        // Tells a reconnecting client that there will never be more.
        response.status(HttpStatus.NO_CONTENT).end();
        return;
      }
      await send(response, { frames: (signal) => FRAMES.of(log.events(signal)), retryMs: RECONNECT_MS });
    });
  }

  /** The events' own JSON text is sent, byte for byte (invariant 9). */
  private async page(taskId: string, after: number, limit: number, response: Response): Promise<void> {
    const { events, hasMore } = await this.log.page(taskId, after, limit);
    const data = events.map((event) => event.payload).join(',');
    response.type('json').send(`{"object":"list","data":[${data}],"has_more":${hasMore}}`);
  }
}
