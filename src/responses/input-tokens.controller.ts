import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { CurrentClient, RequireScope, type Client } from '../clients/index.js';
import { bodyOf } from '../http/index.js';
import { constant, DescribeRoute, integer, named, object, Tag } from '../openapi/index.js';
import { CreateResponseDto } from './dto/create-response.dto.js';
import { ResponseRequests } from './response-requests.js';

const INPUT_TOKENS = named(
  'InputTokens',
  object({
    object: constant('response.input_tokens'),
    input_tokens: integer('Of the whole prompt, what the chat template adds included'),
  }),
);

const ERRORS = [
  'background_requires_store',
  'context_length_exceeded',
  'item_not_found',
  'model_load_failed',
  'model_not_found',
  'model_unavailable',
  'previous_response_not_found',
  'queue_full',
  'server_shutting_down',
  'unsupported_parameter',
  'unsupported_value',
] as const;

/** POST /v1/responses/input_tokens (WIRE B2): a create that is counted and not run. */
@Tag('Responses')
@Controller('v1/responses/input_tokens')
export class InputTokensController {
  constructor(private readonly requests: ResponseRequests) {}

  @Post()
  @HttpCode(200)
  @RequireScope('responses:write')
  @DescribeRoute({
    id: 'countInputTokens',
    summary: 'Counts the tokens of what a response would be asked',
    description: 'Takes the body of a create and refuses what a create would refuse. Nothing is run or stored.',
    body: bodyOf(CreateResponseDto),
    answers: { 200: { description: 'The count', schema: INPUT_TOKENS } },
    errors: ERRORS,
  })
  async count(
    @Body() dto: CreateResponseDto,
    @CurrentClient() client: Client,
  ): Promise<{ object: 'response.input_tokens'; input_tokens: number }> {
    const { generation } = await this.requests.prepare(dto, client.id);
    return { object: 'response.input_tokens', input_tokens: generation.promptIds.length };
  }
}
