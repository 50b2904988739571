import { Controller, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { AuditLog, RequestOrigin, type Origin } from '../audit/index.js';
import { CurrentClient, InsufficientScope, RequireScope, type Client, type Scope } from '../clients/index.js';
import {
  listObject,
  listSchema,
  ListOf,
  OneOf,
  pageFields,
  QueryFields,
  SingleText,
  type ListObject,
  type QueryOf,
} from '../http/index.js';
import { DescribeRoute, Tag } from '../openapi/index.js';
import { TaskCancellation } from './task-cancellation.js';
import { TaskObjects } from './task-objects.js';
import { TaskQueries } from './task-queries.js';
import { TASK } from './task-schema.js';
import { TASK_STATUSES } from './task-transitions.js';
import type { TaskObject } from './task-view.js';

const LIST_FIELDS = {
  status: new ListOf(TASK_STATUSES),
  model: new SingleText('Only tasks of this model'),
  ...pageFields('task'),
  all_clients: new OneOf(['true', 'false'], 'false'),
};
const LIST_QUERY = new QueryFields(LIST_FIELDS);

/** The LMSP view of tasks (WIRE B2, B4). */
@Tag('Tasks')
@Controller('v1/tasks')
export class TasksController {
  constructor(
    private readonly queries: TaskQueries,
    private readonly objects: TaskObjects,
    private readonly cancellation: TaskCancellation,
    private readonly audit: AuditLog,
  ) {}

  @Get()
  @RequireScope('tasks:read', 'operator:read')
  @DescribeRoute({
    id: 'listTasks',
    summary: 'Lists your tasks, newest first',
    description: '`all_clients=true` lists those of every client, without results and metadata; needs `operator:read`.',
    query: LIST_QUERY.schemas,
    answers: { 200: { description: 'One page', schema: listSchema(TASK) } },
    errors: ['invalid_value'],
  })
  async list(
    @CurrentClient() client: Client,
    @Query(LIST_QUERY) query: QueryOf<typeof LIST_FIELDS>,
  ): Promise<ListObject<TaskObject>> {
    const { status: statuses, model, after, all_clients: all, ...page } = query;
    const everybody = all === 'true';
    requireOwn(client, everybody ? 'operator:read' : 'tasks:read');
    const { tasks, hasMore } = await this.queries.page({
      ...page,
      ...(!everybody && { clientId: client.id }),
      ...(statuses && { statuses }),
      ...(model !== null && { model }),
      ...(after !== null && { after }),
    });
    const objects = this.objects.many(tasks);
    return listObject(everybody ? objects.map(withoutContent) : objects, hasMore);
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
  @RequireScope('tasks:cancel', 'operator:manage')
  @DescribeRoute({
    id: 'cancelTask',
    summary: 'Cancels a task',
    description:
      'Atomic: a task whose cancel was answered never completes. Answers once it has ended, or soon. With ' +
      "`operator:manage` also another client's task.",
    answers: { 200: { description: 'The task, `cancelled` or about to be', schema: TASK } },
    errors: ['task_not_found', 'task_not_cancellable', 'storage_busy', 'storage_full'],
  })
  async cancel(
    @CurrentClient() client: Client,
    @Param('id') id: string,
    @RequestOrigin() origin: Origin,
    @Res({ passthrough: true }) response: Response,
  ): Promise<TaskObject> {
    const operator = client.scopes.includes('operator:manage');
    const task = await this.queries.get(id, operator ? null : client.id);
    response.setHeader('LMSP-Task-Id', task.id);
    const foreign = task.clientId !== client.id;
    const cancelled = await this.cancellation.cancel(task.id, async (tx) => {
      if (foreign) await this.audit.record(tx, { action: 'task.cancelled', object: task.id, origin });
    });
    const object = await this.objects.one(cancelled);
    return foreign ? withoutContent(object) : object;
  }
}

/** A route that two scopes open asks for the one that this use needs. */
function requireOwn({ scopes }: Client, scope: Scope): void {
  if (!scopes.includes(scope)) throw new InsufficientScope(scope);
}

/** What an operator sees of another client's task: neither what came of it nor what its client wrote beside it (WIRE B1). */
function withoutContent(task: TaskObject): TaskObject {
  return { ...task, result: null, metadata: {} };
}
