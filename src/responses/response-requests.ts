import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../config/index.js';
import { identifierSuffix } from '../database/index.js';
import { DomainError } from '../errors/index.js';
import type { KeyedRequest } from '../http/index.js';
import { GenerationDefaultsReader, ModelCatalogue, ModelResidency, type ModelRecord } from '../models/index.js';
import { metadataOf, type OnRestart } from '../tasks/index.js';
import { logprobsAskedFor, type CreateResponseDto } from './dto/create-response.dto.js';
import { newResponse } from './new-response.js';
import { outputConstraint, outputReading } from './output-form.js';
import { randomSeed, samplingOf, stopsOf } from './request-sampling.js';
import { ResponsePrompts, type PromptForm } from './response-prompts.js';
import { templateTools, toolUseOf } from './tool-use.js';
import { taskIdOf, type ResponseDraft } from './response-store.js';

/** From a checked body to all that the response and its generation will ever need; writes nothing (WIRE B3, order of work). */
@Injectable()
export class ResponseRequests {
  constructor(
    private readonly catalogue: ModelCatalogue,
    private readonly defaults: GenerationDefaultsReader,
    private readonly prompts: ResponsePrompts,
    @Inject(CONFIG) private readonly config: Config,
    private readonly residency: ModelResidency,
  ) {}

  /**
   * Throws DomainError naming the field: invalid_value, invalid_type, unsupported_value, background_requires_store,
   * model_not_found, model_unavailable, and what ResponsePrompts throws.
   */
  async prepare(
    dto: CreateResponseDto,
    clientId: string,
    keyed: KeyedRequest | null = null,
    form: PromptForm = 'chat',
  ): Promise<ResponseDraft> {
    const policy = this.policyOf(dto);
    const stop = stopsOf(dto.stop);
    const metadata = metadataOf(dto.metadata);
    const tools = toolUseOf(dto);
    const topLogprobs = logprobsAskedFor(dto);
    const id = `resp_${identifierSuffix()}`;
    const model = await this.catalogue.usable(dto.model);
    const sampling = samplingOf(dto, await this.defaults.of(model));
    const target = { clientId, responseId: id, model, form, tools: templateTools(tools) };
    const { input, references, promptIds, syntax } = await this.prompts.prompt(dto, target);
    const held = outputConstraint(dto, tools, syntax);
    const constraint = held && (await this.prompts.enforceable(model, held));
    const seed = dto.seed ?? randomSeed();
    return {
      clientId,
      ...(keyed && { keyed }),
      input,
      references,
      body: newResponse(dto, {
        id,
        taskId: dto.store === false ? null : taskIdOf(id),
        model: model.id,
        onRestart: policy ?? this.defaultPolicy(model.id),
        metadata,
        seed,
        sampling,
        tools,
        createdAt: Date.now(),
      }),
      generation: {
        promptIds,
        seed,
        sampling,
        stop,
        maxOutputTokens: outputLimit(dto, model, promptIds.length),
        ...outputReading(tools, syntax),
        ...(topLogprobs !== null && { topLogprobs }),
        ...(constraint && { constraint }),
        modelDigest: model.digest ?? '',
        ...(dto.keep_alive_seconds != null && { keepAliveSeconds: dto.keep_alive_seconds }),
      },
    };
  }

  /** Null: the model's default. */
  private policyOf({ background, store, on_restart: wished }: CreateResponseDto): OnRestart | null {
    if (background === true && store === false) {
      throw new DomainError('background_requires_store', 'A background response is stored; leave store out.', {
        param: 'store',
      });
    }
    if (background === true) return wished ?? null;
    if (wished === 'retry' || wished === 'resume')
      throw unsupportedPolicy('on_restart belongs to background responses; set background.');
    return 'fail';
  }

  /** A model that is known not to resume exactly has nothing to go on from: its work begins anew. */
  private defaultPolicy(modelId: string): OnRestart {
    const { defaultOnRestart } = this.config;
    const cannotResume = this.residency.exact(modelId)?.resume === false;
    return defaultOnRestart === 'resume' && cannotResume ? 'retry' : defaultOnRestart;
  }
}

/** Tokens the answer may have: what is asked for, within what the prompt leaves of the context. */
function outputLimit(dto: CreateResponseDto, { contextLength }: ModelRecord, promptTokens: number): number {
  const limit = contextLength ?? Number.MAX_SAFE_INTEGER;
  if (promptTokens < limit) return Math.min(dto.max_output_tokens ?? limit, limit - promptTokens);
  throw new DomainError(
    'context_length_exceeded',
    `The input has ${promptTokens} tokens; the model's context is ${limit} tokens and must hold the answer too.`,
    { param: 'input' },
  );
}

function unsupportedPolicy(message: string): DomainError {
  return new DomainError('unsupported_value', message, { param: 'on_restart' });
}
