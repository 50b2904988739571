import type { SamplingParameters } from '../inference/index.js';
import type { OnRestart } from '../tasks/index.js';
import type { CreateResponseDto } from './dto/create-response.dto.js';
import { outputFormat } from './output-format.js';
import type { ResponseObject } from './response-object.js';
import type { ToolUse } from './tool-use.js';

/** What a request leaves open and the service has decided. */
export interface ResponseDecisions {
  id: string;
  /** Null for a response that is not stored. */
  taskId: string | null;
  /** Catalogue id, where the request may have used an alias. */
  model: string;
  onRestart: OnRestart;
  metadata: Record<string, string>;
  seed: number;
  sampling: SamplingParameters;
  tools: Pick<ToolUse, 'tools' | 'choice'>;
  /** Epoch milliseconds. */
  createdAt: number;
}

/** The Response object as it is right after the accept: queued, with everything echoed that will be used. */
export function newResponse(dto: CreateResponseDto, decided: ResponseDecisions): ResponseObject {
  const { sampling, tools } = decided;
  return {
    id: decided.id,
    object: 'response',
    created_at: Math.floor(decided.createdAt / 1000),
    completed_at: null,
    status: 'queued',
    incomplete_details: null,
    error: null,
    model: decided.model,
    previous_response_id: dto.previous_response_id ?? null,
    instructions: dto.instructions ?? null,
    output: [],
    tools: tools.tools,
    tool_choice: tools.choice,
    truncation: 'disabled',
    parallel_tool_calls: dto.parallel_tool_calls ?? true,
    text: { format: outputFormat(dto) },
    top_p: sampling.topP,
    presence_penalty: sampling.presencePenalty,
    frequency_penalty: sampling.frequencyPenalty,
    top_logprobs: dto.top_logprobs ?? 0,
    temperature: sampling.temperature,
    reasoning: { effort: dto.reasoning?.effort ?? null, summary: dto.reasoning?.summary ?? null },
    usage: null,
    max_output_tokens: dto.max_output_tokens ?? null,
    max_tool_calls: dto.max_tool_calls ?? null,
    store: dto.store ?? true,
    background: dto.background ?? false,
    service_tier: dto.service_tier ?? 'default',
    metadata: decided.metadata,
    safety_identifier: dto.safety_identifier ?? null,
    prompt_cache_key: dto.prompt_cache_key ?? null,
    user: dto.user ?? null,
    lmsp: {
      task_id: decided.taskId,
      task_status: 'queued',
      attempt: 0,
      on_restart: decided.onRestart,
      seed: decided.seed,
      replayed_tokens: 0,
    },
  };
}
