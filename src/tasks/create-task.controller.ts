import { Body, Controller, Post, Res } from '@nestjs/common';
import type { Response } from 'express';
import { CurrentClient, RequireScope, type Client } from '../clients/index.js';
import { bodyOf, Idempotent, Keyed, type KeyedRequest } from '../http/index.js';
import { DescribeRoute, Tag } from '../openapi/index.js';
import { AcceptedTasks } from './accepted-tasks.js';
import { CreateTaskDto } from './dto/create-task.dto.js';
import { TaskRunner } from './task-runner.js';
import { TASK } from './task-schema.js';
import { TaskAcceptance } from './types/task-acceptance.js';
import { TaskRequests } from './types/task-requests.js';

/** The route that makes tasks of extensions' types (WIRE B2). */
@Tag('Tasks')
@Controller('v1/tasks')
export class CreateTaskController {
  constructor(
    private readonly requests: TaskRequests,
    private readonly acceptance: TaskAcceptance,
    private readonly answers: AcceptedTasks,
    private readonly runner: TaskRunner,
  ) {}

  @Post()
  @RequireScope('tasks:write')
  @Idempotent(AcceptedTasks)
  @DescribeRoute({
    id: 'createTask',
    summary: "Makes a task of an extension's type",
    description:
      'Answers as soon as the task is on disk: it then ends whatever happens to client or service. What `input` may hold ' +
      'the type decides. A `response` is made by POST /v1/responses, a `model.pull` by POST /v1/models/pull.',
    body: bodyOf(CreateTaskDto),
    headers: { 'Idempotency-Key': 'Names this request: a repeat gets the answer of the first and makes no other task' },
    answers: { 202: { description: 'Accepted; follow `Location`', schema: TASK } },
    errors: [
      'idempotency_in_progress',
      'idempotency_key_reused',
      'invalid_idempotency_key',
      'queue_full',
      'rate_limit_exceeded',
      'storage_busy',
      'storage_full',
      'unsupported_value',
    ],
  })
  async create(
    @Body() dto: CreateTaskDto,
    @CurrentClient() client: Client,
    @Keyed() keyed: KeyedRequest | null,
    @Res() response: Response,
  ): Promise<void> {
    const accepted = await this.acceptance.accept(this.requests.prepare(dto, client.id, keyed));
    if (!accepted.repeated) this.runner.joined(accepted.task.type, null);
    await this.answers.answer(accepted, response);
  }
}
