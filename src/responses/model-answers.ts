import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../config/index.js';
import { readDto } from '../http/index.js';
import { CreateResponseDto } from './dto/create-response.dto.js';
import { EphemeralResponses } from './ephemeral-responses.js';
import { successOf } from './foreground-responses.js';
import type { ResponseObject, ResponseUsage } from './response-object.js';
import { ResponseRequests } from './response-requests.js';

/** What a model is asked: the fields of POST /v1/responses that one answer needs. */
export interface ModelQuestion {
  /** Id or alias. */
  model: string;
  /** A text, or messages. */
  input: string | readonly { role: 'user' | 'assistant' | 'system' | 'developer'; content: string }[];
  instructions?: string;
  max_output_tokens?: number;
  temperature?: number;
  top_p?: number;
  seed?: number;
  stop?: string | string[];
  /** The form of the answer, as `text` of POST /v1/responses: a JSON Schema for example. */
  text?: object;
}

export interface ModelAnswer {
  text: string;
  /** False: it ended at a limit of tokens. */
  complete: boolean;
  usage: ResponseUsage | null;
  /** The whole response, which is stored nowhere. */
  response: ResponseObject;
}

/** Lets a model answer within other work: no task, no row. It runs beside what clients ask with `store: false`. */
@Injectable()
export class ModelAnswers {
  constructor(
    private readonly requests: ResponseRequests,
    private readonly responses: EphemeralResponses,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /**
   * Waits for the model and for the whole answer. Throws DomainError as the route does, and the signal's reason.
   * @param clientId whose turn it is in the queue of the model, e.g. that of the task
   */
  async answer(question: ModelQuestion, clientId: string, signal: AbortSignal): Promise<ModelAnswer> {
    const dto = readDto(CreateResponseDto, { ...question, store: false }, this.config.maxInputItems);
    const run = this.responses.run(await this.requests.prepare(dto, clientId), signal);
    let event = await run.next();
    while (!event.done) event = await run.next();
    signal.throwIfAborted();
    if (event.value === null) throw new Error('an answer ended without a response');
    const response = successOf(event.value);
    return { text: textOf(response), complete: response.status === 'completed', usage: response.usage, response };
  }
}

function textOf({ output }: ResponseObject): string {
  return output.flatMap((item) => (item.type === 'message' ? item.content.map(({ text }) => text) : [])).join('');
}
