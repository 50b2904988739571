import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../config/index.js';
import { DomainError } from '../errors/index.js';
import { readDto } from '../http/index.js';
import { CreateResponseDto, ResponseRequests, type ResponseDraft } from '../responses/index.js';
import { responseOfChat, sharedFields, type ResponseRequest } from './chat-request.js';
import { ChatView } from './chat-view.js';
import type { CompletionJob } from './completion-answers.js';
import type { CreateChatCompletionDto } from './dto/create-chat-completion.dto.js';
import { DEFAULT_MAX_TOKENS, type CreateCompletionDto } from './dto/create-completion.dto.js';
import { FieldNames } from './field-names.js';
import { TextView } from './text-view.js';

/** Requests for completions as responses that are not stored: refused where a response is, in their own field names. */
@Injectable()
export class CompletionRequests {
  constructor(
    private readonly requests: ResponseRequests,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** Throws DomainError as ResponseRequests does. */
  async chat(dto: CreateChatCompletionDto, clientId: string): Promise<CompletionJob> {
    const request = responseOfChat(dto);
    const draft = await this.prepare(request, clientId, 'chat');
    return { draft, view: new ChatView(draft.body, dto.stream_options?.include_usage ?? false), names: request.names };
  }

  /** Throws DomainError as ResponseRequests does. */
  async text(dto: CreateCompletionDto, clientId: string): Promise<CompletionJob> {
    const [prompt] = [dto.prompt].flat();
    const body = {
      ...sharedFields(dto),
      store: false,
      input: prompt,
      max_output_tokens: dto.max_tokens ?? DEFAULT_MAX_TOKENS,
    };
    const names = new FieldNames({ input: 'prompt', max_output_tokens: 'max_tokens' });
    const draft = await this.prepare({ body, names }, clientId, 'raw');
    return { draft, view: new TextView(draft.body, dto.stream_options?.include_usage ?? false), names };
  }

  private async prepare(
    { body, names }: ResponseRequest,
    clientId: string,
    form: 'chat' | 'raw',
  ): Promise<ResponseDraft> {
    try {
      const dto = readDto(CreateResponseDto, body, this.config.maxInputItems);
      return await this.requests.prepare(dto, clientId, null, form);
    } catch (error) {
      throw error instanceof DomainError ? names.inTheirs(error) : error;
    }
  }
}
