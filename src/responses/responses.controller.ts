import { Controller, Delete, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { CurrentClient, RequireScope, type Client } from '../clients/index.js';
import {
  Cursor,
  listObject,
  listSchema,
  OneOf,
  pageFields,
  QueryFields,
  type ListObject,
  type QueryOf,
} from '../http/index.js';
import { deletedObject, DescribeRoute, Tag } from '../openapi/index.js';
import { TASK_EVENT, type JsonObject } from '../tasks/index.js';
import type { ResponseObject } from './response-object.js';
import { INPUT_ITEM, RESPONSE } from './response-schema.js';
import { ResponseStreams } from './response-streams.js';
import { StoredResponses } from './stored-responses.js';

const READ_FIELDS = { stream: new OneOf(['true', 'false'], 'false'), starting_after: new Cursor() };
const READ_QUERY = new QueryFields(READ_FIELDS);

const ITEMS_FIELDS = pageFields('item');
const ITEMS_QUERY = new QueryFields(ITEMS_FIELDS);

/** Routes of stored responses (WIRE B2). */
@Tag('Responses')
@Controller('v1/responses/:id')
export class ResponsesController {
  constructor(
    private readonly responses: StoredResponses,
    private readonly streams: ResponseStreams,
  ) {}

  @Get()
  @RequireScope('responses:read')
  @DescribeRoute({
    id: 'getResponse',
    summary: 'Reads a response, or follows it',
    query: READ_QUERY.schemas,
    answers: { 200: { description: 'The response, or its event stream', schema: RESPONSE, events: TASK_EVENT } },
    errors: ['response_not_found', 'invalid_cursor', 'invalid_value', 'event_log_expired', 'rate_limit_exceeded'],
  })
  async read(
    @Param('id') id: string,
    @Query(READ_QUERY) query: QueryOf<typeof READ_FIELDS>,
    @CurrentClient() client: Client,
    @Res() response: Response,
  ): Promise<void> {
    const { taskId, body } = await this.responses.get(id, client.id);
    response.setHeader('LMSP-Task-Id', taskId);
    if (query.stream === 'false') {
      response.json(body);
      return;
    }
    await this.streams.withPlace('reader', response, (stream) => stream.stored(taskId, query.starting_after));
  }

  @Delete()
  @RequireScope('responses:write')
  @DescribeRoute({
    id: 'deleteResponse',
    summary: 'Deletes an ended response, its task and its events',
    answers: { 200: { description: 'It is gone', schema: deletedObject('response') } },
    errors: ['response_not_found', 'response_in_progress', 'storage_busy', 'storage_full'],
  })
  async remove(
    @Param('id') id: string,
    @CurrentClient() client: Client,
  ): Promise<{ id: string; object: 'response'; deleted: true }> {
    await this.responses.remove(id, client.id);
    return { id, object: 'response', deleted: true };
  }

  @Post('cancel')
  @HttpCode(200)
  @RequireScope('tasks:cancel')
  @DescribeRoute({
    id: 'cancelResponse',
    summary: 'Cancels a response',
    description: 'Atomic: a response whose cancel was answered never completes. One that was cancelled already is 200.',
    answers: { 200: { description: 'The response, `cancelled` or about to be', schema: RESPONSE } },
    errors: ['response_not_found', 'response_not_cancellable', 'storage_busy', 'storage_full'],
  })
  async cancel(
    @Param('id') id: string,
    @CurrentClient() client: Client,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ResponseObject> {
    const body = await this.responses.cancel(id, client.id);
    response.setHeader('LMSP-Task-Id', body.lmsp.task_id ?? '');
    return body;
  }

  @Get('input_items')
  @RequireScope('responses:read')
  @DescribeRoute({
    id: 'listInputItems',
    summary: 'Lists what a response was asked',
    query: ITEMS_QUERY.schemas,
    answers: { 200: { description: 'One page', schema: listSchema(INPUT_ITEM) } },
    errors: ['response_not_found', 'invalid_value'],
  })
  async inputItems(
    @Param('id') id: string,
    @Query(ITEMS_QUERY) query: QueryOf<typeof ITEMS_FIELDS>,
    @CurrentClient() client: Client,
  ): Promise<ListObject<JsonObject>> {
    const { items, hasMore } = await this.responses.inputItems(id, client.id, query);
    return listObject(items, hasMore);
  }
}
