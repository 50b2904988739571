import { Body, Controller, Post, Res } from '@nestjs/common';
import type { Response } from 'express';
import { RequestOrigin, type Origin } from '../audit/index.js';
import { CurrentClient, RequireScope, type Client } from '../clients/index.js';
import { DomainError } from '../errors/index.js';
import { bodyOf, Idempotent, Keyed, type KeyedRequest } from '../http/index.js';
import { isModelId } from '../models/index.js';
import { DescribeRoute, Tag } from '../openapi/index.js';
import { AcceptedTasks, TASK } from '../tasks/index.js';
import { PullModelDto } from './dto/pull-model.dto.js';
import { PullAcceptance } from './pull-acceptance.js';
import type { PullInput } from './pull-input.js';

const DEFAULT_REVISION = 'main';

/** The route by which a model is fetched from a hub (WIRE B2). */
@Tag('Models')
@Controller('v1/models')
export class PullsController {
  constructor(
    private readonly acceptance: PullAcceptance,
    private readonly answers: AcceptedTasks,
  ) {}

  @Post('pull')
  @RequireScope('models:manage')
  @Idempotent(AcceptedTasks)
  @DescribeRoute({
    id: 'pullModel',
    summary: 'Fetches a model from the hub as a durable task',
    description:
      'Only the files that are read are fetched, at the commit that the revision is when the pull begins. A cancel keeps ' +
      'what was fetched, and so do cut connections, restarts and crashes: the same pull goes on from there. When the task ' +
      'is completed the model is registered and can be used.',
    body: bodyOf(PullModelDto),
    headers: { 'Idempotency-Key': 'Names this request: a repeat gets the answer of the first and makes no other task' },
    answers: { 202: { description: 'Accepted; follow `Location`', schema: TASK } },
    errors: [
      'idempotency_in_progress',
      'idempotency_key_reused',
      'invalid_idempotency_key',
      'model_exists',
      'pull_in_progress',
      'queue_full',
      'storage_busy',
      'storage_full',
    ],
  })
  async pull(
    @Body() body: PullModelDto,
    @CurrentClient() client: Client,
    @RequestOrigin() origin: Origin,
    @Keyed() keyed: KeyedRequest | null,
    @Res() response: Response,
  ): Promise<void> {
    const accepted = await this.acceptance.accept({ clientId: client.id, input: inputIn(body), keyed, origin });
    await this.answers.answer(accepted, response);
  }
}

function inputIn({ repository, revision, id, dtype }: PullModelDto): PullInput {
  const name = id ?? repository;
  if (!isModelId(name)) {
    const message = "'id' is needed: the name of the repository is none that a model can have here.";
    throw new DomainError('invalid_value', message, { param: 'id' });
  }
  return { repository, revision: revision ?? DEFAULT_REVISION, id: name, dtype: dtype ?? null };
}
