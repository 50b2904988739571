import { Body, Controller, HttpCode, Post, Res } from '@nestjs/common';
import type { Response } from 'express';
import { CurrentClient, RequireScope, type Client } from '../clients/index.js';
import { bodyOf, Idempotent, Keyed, type KeyedRequest } from '../http/index.js';
import { DescribeRoute, Tag } from '../openapi/index.js';
import { TASK_EVENT } from '../tasks/index.js';
import { CreateResponseDto } from './dto/create-response.dto.js';
import { EphemeralCreation } from './ephemeral-creation.js';
import { ResponseRepeats } from './response-repeats.js';
import { ResponseRequests } from './response-requests.js';
import { RESPONSE } from './response-schema.js';
import { StoredCreation } from './stored-creation.js';

const CREATE_ERRORS = [
  'background_requires_store',
  'context_length_exceeded',
  'event_log_expired',
  'idempotency_in_progress',
  'idempotency_key_reused',
  'insufficient_resources',
  'invalid_idempotency_key',
  'item_not_found',
  'model_error',
  'model_load_failed',
  'model_not_found',
  'model_unavailable',
  'previous_response_not_found',
  'queue_full',
  'queue_timeout',
  'rate_limit_exceeded',
  'recorder_failed',
  'response_not_found',
  'retry_limit_exceeded',
  'server_shutting_down',
  'storage_busy',
  'storage_full',
  'task_timeout',
  'unsupported_parameter',
  'unsupported_value',
] as const;

/** POST /v1/responses (WIRE B3). */
@Tag('Responses')
@Controller('v1/responses')
export class CreateResponseController {
  constructor(
    private readonly requests: ResponseRequests,
    private readonly stored: StoredCreation,
    private readonly ephemeral: EphemeralCreation,
  ) {}

  @Post()
  @HttpCode(200)
  @RequireScope('responses:write')
  @Idempotent(ResponseRepeats)
  @DescribeRoute({
    id: 'createResponse',
    summary: 'Lets a model answer',
    description:
      'With `background` it answers 202 as soon as the task is on disk: it then ends whatever happens to client or ' +
      'service. Without, it answers with the whole response. With `stream` the events come as they are written.',
    body: bodyOf(CreateResponseDto),
    headers: { 'Idempotency-Key': 'Names this request: a repeat gets the answer of the first and does no work' },
    answers: {
      200: { description: 'The response, or its event stream', schema: RESPONSE, events: TASK_EVENT },
      202: { description: 'Accepted in the background; poll `Location`', schema: RESPONSE },
    },
    errors: CREATE_ERRORS,
  })
  async create(
    @Body() dto: CreateResponseDto,
    @CurrentClient() client: Client,
    @Keyed() keyed: KeyedRequest | null,
    @Res() response: Response,
  ): Promise<void> {
    const draft = await this.requests.prepare(dto, client.id, keyed);
    const creation = draft.body.store ? this.stored : this.ephemeral;
    if (dto.stream) await creation.stream(draft, response);
    else await creation.answer(draft, response);
  }
}
