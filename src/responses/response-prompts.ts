import { Inject, Injectable } from '@nestjs/common';
import { DomainError } from '../errors/index.js';
import {
  PROMPT_CODEC,
  type ChatMessage,
  type ChatSyntax,
  type OutputConstraint,
  type PromptCodec,
} from '../inference/index.js';
import type { ModelRecord } from '../models/index.js';
import type { JsonObject } from '../tasks/index.js';
import { Conversations } from './conversations.js';
import type { CreateResponseDto } from './dto/create-response.dto.js';
import { givenItems, inputItems, referencesIn, requireCalls } from './input-items.js';
import type { HeldOutput } from './output-form.js';
import { promptMessages } from './prompt-messages.js';

/** `chat`: the input is a conversation, for the model's template. `raw`: it is one text and the prompt itself. */
export type PromptForm = 'chat' | 'raw';

/** Whose request it is, and how it is put to which model. */
export interface PromptTarget {
  clientId: string;
  responseId: string;
  model: ModelRecord;
  form: PromptForm;
  /** Functions as templates take them; null: none. */
  tools: readonly object[] | null;
}

/** What a model is given for a request. */
export interface ResponsePrompt {
  /** The request's own input with its references resolved, as it is stored. */
  input: JsonObject[];
  /** Stored responses that parts of the prompt are taken from. */
  references: string[];
  promptIds: number[];
  /** Null for a raw prompt: its answer is text. */
  syntax: ChatSyntax | null;
}

type PromptFields = Pick<CreateResponseDto, 'input' | 'instructions' | 'previous_response_id' | 'reasoning'>;

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
  async prompt(dto: PromptFields, { clientId, responseId, model, form, tools }: PromptTarget): Promise<ResponsePrompt> {
    const given = givenItems(dto.input);
    const earlier = await this.conversations.before(dto.previous_response_id, clientId);
    const referenced = await this.conversations.items(referencesIn(given), clientId);
    const input = inputItems(given, responseId, referenced.items);
    requireCalls(earlier.items, input);
    const messages = promptMessages([...earlier.items, ...input], dto.instructions);
    const references = [...earlier.responseIds, ...referenced.responseIds];
    return { input, references, ...(await this.encoded(messages, dto, { model, form, tools })) };
  }

  /**
   * What the output can be held to. Throws DomainError unsupported_value or invalid_value naming what in a schema cannot be
   * enforced.
   */
  async enforceable(model: ModelRecord, { constraint, places, wished }: HeldOutput): Promise<OutputConstraint> {
    try {
      await this.codec.checkConstraint(model.directory, constraint, places);
      return constraint;
    } catch (error) {
      const place = error instanceof DomainError ? wished.find((each) => error.param?.startsWith(each)) : undefined;
      if (place === undefined || constraint.kind === 'json') throw error;
      const blamed = places.indexOf(place);
      const functions = constraint.functions.map((each, i) => (i === blamed ? { ...each, parameters: null } : each));
      const left = wished.filter((each) => each !== place);
      return this.enforceable(model, { constraint: { ...constraint, functions }, places, wished: left });
    }
  }

  private async encoded(
    messages: ChatMessage[],
    { reasoning }: PromptFields,
    { model, form, tools }: Pick<PromptTarget, 'model' | 'form' | 'tools'>,
  ): Promise<Pick<ResponsePrompt, 'promptIds' | 'syntax'>> {
    const { directory, contextLength } = model;
    const room = contextLength === null ? {} : { mostTokens: contextLength - 1 };
    if (form === 'raw') {
      const prompt = messages.map(({ content }) => content).join('');
      return { promptIds: await this.codec.encodeText(directory, prompt, { asPrompt: true, ...room }), syntax: null };
    }
    const { ids, syntax } = await this.codec.encodeChat(directory, messages, {
      ...room,
      ...(tools && { tools }),
      ...(reasoning?.effort === 'none' && { thinking: false }),
    });
    return { promptIds: ids, syntax };
  }
}
