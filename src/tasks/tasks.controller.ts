import { ApiTags } from '@nestjs/swagger';
import { Controller, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { CurrentClient, RequireScope, type Client } from '../clients/index.js';
import {
  listObject,
  listSchema,
  ListOf,
  OneOf,
  QueryFields,
  SingleText,
  WholeNumber,
  type ListObject,
  type QueryOf,
} from '../http/index.js';
import { DescribeRoute } from '../openapi/index.js';
import { TaskCancellation } from './task-cancellation.js';
import { TaskObjects } from './task-objects.js';
import { TaskQueries } from './task-queries.js';
import { TASK } from './task-schema.js';
import { TASK_STATUSES } from './task-transitions.js';
import type { TaskObject } from './task-view.js';

const LIST_FIELDS = {
  status: new ListOf(TASK_STATUSES),
  model: new SingleText('Only tasks of this model'),
  limit: new WholeNumber({ min: 1, max: 100, fallback: 20 }),
  order: new OneOf(['desc', 'asc'], 'desc'),
  after: new SingleText('Id of the last task of the page before'),
};
const LIST_QUERY = new QueryFields(LIST_FIELDS);

/** The LMSP view of tasks (WIRE B2, B4). */
@ApiTags('Tasks')
@Controller('v1/tasks')
export class TasksController {
  constructor(
    private readonly queries: TaskQueries,
    private readonly objects: TaskObjects,
    private readonly cancellation: TaskCancellation,
  ) {}

  @Get()
  @RequireScope('tasks:read')
  @DescribeRoute({
    id: 'listTasks',
    summary: 'Lists your tasks, newest first',
    query: LIST_QUERY.schemas,
    answers: { 200: { description: 'One page', schema: listSchema(TASK) } },
    errors: ['invalid_value'],
  })
  async list(
    @CurrentClient() client: Client,
    @Query(LIST_QUERY) query: QueryOf<typeof LIST_FIELDS>,
  ): Promise<ListObject<TaskObject>> {
    const { status: statuses, model, after, ...page } = query;
    const { tasks, hasMore } = await this.queries.page({
      clientId: client.id,
      ...page,
      ...(statuses && { statuses }),
      ...(model !== null && { model }),
      ...(after !== null && { after }),
    });
    return listObject(this.objects.many(tasks), hasMore);
  }

  @Get(':id')
  @RequireScope('tasks:read')
  @DescribeRoute({
    id: 'getTask',
    summary: 'Reads a task',
    answers: { 200: { description: 'The task', schema: TASK } },
    errors: ['task_not_found'],
  })
  async read(
    @CurrentClient() client: Client,
    @Param('id') id: string,
    @Res({ passthrough: true }) response: Response,
  ): Promise<TaskObject> {
    const task = await this.queries.get(id, client.id);
    response.setHeader('LMSP-Task-Id', task.id);
    return this.objects.one(task);
  }

  @Post(':id/cancel')
  @HttpCode(200)
  @RequireScope('tasks:cancel')
  @DescribeRoute({
    id: 'cancelTask',
    summary: 'Cancels a task',
    description: 'Atomic: a task whose cancel was answered never completes. Answers once it has ended, or soon.',
    answers: { 200: { description: 'The task, `cancelled` or about to be', schema: TASK } },
    errors: ['task_not_found', 'task_not_cancellable', 'storage_busy', 'storage_full'],
  })
  async cancel(
    @CurrentClient() client: Client,
    @Param('id') id: string,
    @Res({ passthrough: true }) response: Response,
  ): Promise<TaskObject> {
    const task = await this.queries.get(id, client.id);
    response.setHeader('LMSP-Task-Id', task.id);
    return this.objects.one(await this.cancellation.cancel(task.id));
  }
}
