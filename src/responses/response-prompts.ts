import { Inject, Injectable } from '@nestjs/common';
import { PROMPT_CODEC, type ChatMessage, type OutputConstraint, type PromptCodec } from '../inference/index.js';
import type { ModelRecord } from '../models/index.js';
import type { JsonObject } from '../tasks/index.js';
import { Conversations } from './conversations.js';
import type { CreateResponseDto } from './dto/create-response.dto.js';
import { givenItems, inputItems, referencesIn } from './input-items.js';
import { promptMessages } from './prompt-messages.js';

/** `chat`: the input is a conversation, for the model's template. `raw`: it is one text and the prompt itself. */
export type PromptForm = 'chat' | 'raw';

/** Whose request it is, and how it is put to which model. */
export interface PromptTarget {
  clientId: string;
  responseId: string;
  model: ModelRecord;
  form: PromptForm;
}

/** What a model is given for a request. */
export interface ResponsePrompt {
  /** The request's own input with its references resolved, as it is stored. */
  input: JsonObject[];
  /** Stored responses that parts of the prompt are taken from. */
  references: string[];
  promptIds: number[];
}

/** Resolves what a request refers to, renders it and counts its tokens (WIRE B3, order of work). Writes nothing. */
@Injectable()
export class ResponsePrompts {
  constructor(
    @Inject(PROMPT_CODEC) private readonly codec: PromptCodec,
    private readonly conversations: Conversations,
  ) {}

  /**
   * Throws DomainError naming the field: invalid_value, previous_response_not_found, item_not_found, request_too_large,
   * context_length_exceeded.
   */
  async prompt(
    dto: Pick<CreateResponseDto, 'input' | 'instructions' | 'previous_response_id'>,
    { clientId, responseId, model, form }: PromptTarget,
  ): Promise<ResponsePrompt> {
    const given = givenItems(dto.input);
    const earlier = await this.conversations.before(dto.previous_response_id, clientId);
    const referenced = await this.conversations.items(referencesIn(given), clientId);
    const input = inputItems(given, responseId, referenced.items);
    const messages = promptMessages([...earlier.items, ...input], dto.instructions);
    const promptIds = await this.promptIds(model, messages, form);
    return { input, references: [...earlier.responseIds, ...referenced.responseIds], promptIds };
  }

  /** Throws DomainError unsupported_value or invalid_value naming what in the schema cannot be enforced. */
  async checkConstraint(model: ModelRecord, constraint: OutputConstraint, places: readonly string[]): Promise<void> {
    await this.codec.checkConstraint(model.directory, constraint, places);
  }

  private promptIds(model: ModelRecord, messages: ChatMessage[], form: PromptForm): Promise<number[]> {
    const { directory, contextLength } = model;
    const room = contextLength === null ? {} : { mostTokens: contextLength - 1 };
    if (form === 'chat') return this.codec.encodeChat(directory, messages, room);
    const prompt = messages.map(({ content }) => content).join('');
    return this.codec.encodeText(directory, prompt, { asPrompt: true, ...room });
  }
}
