import { Body, Controller, HttpCode, Post, Res } from '@nestjs/common';
import type { Response } from 'express';
import { CurrentClient, RequireScope, type Client } from '../clients/index.js';
import { bodyOf } from '../http/index.js';
import { DescribeRoute, Tag } from '../openapi/index.js';
import { CompletionAnswers, type CompletionJob } from './completion-answers.js';
import { CompletionRequests } from './completion-requests.js';
import { CHAT_CHUNK, CHAT_COMPLETION, COMPLETION, COMPLETION_CHUNK } from './completion-schema.js';
import { CreateChatCompletionDto } from './dto/create-chat-completion.dto.js';
import { CreateCompletionDto } from './dto/create-completion.dto.js';

const ERRORS = [
  'context_length_exceeded',
  'insufficient_resources',
  'model_error',
  'model_load_failed',
  'model_not_found',
  'model_unavailable',
  'queue_full',
  'rate_limit_exceeded',
  'server_shutting_down',
  'storage_busy',
  'storage_full',
  'task_timeout',
  'unsupported_parameter',
  'unsupported_value',
] as const;

/** OpenAI's older endpoints (WIRE B7): views of a response that is not stored. */
@Tag('Completions')
@Controller('v1')
export class CompletionsController {
  constructor(
    private readonly requests: CompletionRequests,
    private readonly answers: CompletionAnswers,
  ) {}

  @Post('chat/completions')
  @HttpCode(200)
  @RequireScope('responses:write')
  @DescribeRoute({
    id: 'createChatCompletion',
    summary: 'Lets a model answer a chat',
    description:
      'Nothing is stored, whatever `store` says; the work ends with its connection. A failure before the first chunk is ' +
      'a status, a later one the last data of the stream.',
    body: bodyOf(CreateChatCompletionDto),
    answers: { 200: { description: 'The answer, or its chunks', schema: CHAT_COMPLETION, events: CHAT_CHUNK } },
    errors: ERRORS,
  })
  async chat(
    @Body() dto: CreateChatCompletionDto,
    @CurrentClient() client: Client,
    @Res() response: Response,
  ): Promise<void> {
    await this.tell(await this.requests.chat(dto, client.id), dto.stream === true, response);
  }

  @Post('completions')
  @HttpCode(200)
  @RequireScope('responses:write')
  @DescribeRoute({
    id: 'createCompletion',
    summary: 'Lets a model go on from a text',
    description:
      'The prompt goes to the model as it is: no chat template, and control tokens in it are control tokens. Nothing is ' +
      'stored; the work ends with its connection.',
    body: bodyOf(CreateCompletionDto),
    answers: { 200: { description: 'The text, or its chunks', schema: COMPLETION, events: COMPLETION_CHUNK } },
    errors: ERRORS,
  })
  async complete(
    @Body() dto: CreateCompletionDto,
    @CurrentClient() client: Client,
    @Res() response: Response,
  ): Promise<void> {
    await this.tell(await this.requests.text(dto, client.id), dto.stream === true, response);
  }

  private tell(job: CompletionJob, streamed: boolean, response: Response): Promise<void> {
    return streamed ? this.answers.stream(job, response) : this.answers.answer(job, response);
  }
}
