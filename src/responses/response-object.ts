import type { ErrorBody } from '../errors/index.js';
import type { OutputConstraint, SamplingParameters } from '../inference/index.js';
import type { FunctionTool, ToolChoice } from './tool-use.js';
import type { OutputSyntax } from './output-syntax.js';
import type { OnRestart, TaskStatus } from '../tasks/index.js';
import type { OutputFormat } from './output-format.js';

interface WireLogprob {
  token: string;
  bytes: number[];
  logprob: number;
}

/** Natural logarithm of a token's probability, and of the likeliest ones' in its place. */
export interface OutputLogprob extends WireLogprob {
  top_logprobs: WireLogprob[];
}

/** One content part of an output message. Both arrays are always sent (OpenAI Responses API). */
export interface OutputTextPart {
  type: 'output_text';
  text: string;
  annotations: unknown[];
  logprobs: OutputLogprob[];
}

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

export interface OutputMessage {
  id: string;
  type: 'message';
  role: 'assistant';
  status: ItemStatus;
  content: OutputTextPart[];
}

export interface OutputFunctionCall {
  id: string;
  type: 'function_call';
  status: ItemStatus;
  /** What the output of the call names it by. */
  call_id: string;
  name: string;
  /** JSON, as far as the model wrote it. */
  arguments: string;
}

export interface SummaryTextPart {
  type: 'summary_text';
  text: string;
}

/** What a thinking model wrote before its answer. */
export interface OutputReasoning {
  id: string;
  type: 'reasoning';
  status: ItemStatus;
  summary: SummaryTextPart[];
}

/** Items a response may hold. */
export type OutputItem = OutputMessage | OutputFunctionCall | OutputReasoning;

export type ResponseStatus = 'queued' | 'in_progress' | 'completed' | 'incomplete' | 'failed' | 'cancelled';

/** Tokens. */
export interface ResponseUsage {
  input_tokens: number;
  input_tokens_details: { cached_tokens: number };
  output_tokens: number;
  output_tokens_details: { reasoning_tokens: number };
  total_tokens: number;
}

/** The Response object on the wire: every key of the Open Responses required list, plus `lmsp`. Times: unix seconds. */
export interface ResponseObject {
  id: string;
  object: 'response';
  created_at: number;
  completed_at: number | null;
  status: ResponseStatus;
  incomplete_details: { reason: 'max_output_tokens' } | null;
  error: ErrorBody | null;
  model: string;
  previous_response_id: string | null;
  instructions: string | null;
  output: OutputItem[];
  tools: FunctionTool[];
  tool_choice: ToolChoice;
  truncation: 'disabled';
  parallel_tool_calls: boolean;
  text: { format: OutputFormat };
  top_p: number;
  presence_penalty: number;
  frequency_penalty: number;
  top_logprobs: number;
  temperature: number;
  reasoning: unknown;
  usage: ResponseUsage | null;
  max_output_tokens: number | null;
  max_tool_calls: number | null;
  store: boolean;
  background: boolean;
  service_tier: string;
  metadata: Record<string, string>;
  safety_identifier: string | null;
  prompt_cache_key: string | null;
  user: string | null;
  lmsp: {
    task_id: string | null;
    task_status: TaskStatus;
    attempt: number;
    on_restart: OnRestart;
    seed: number;
    replayed_tokens: number;
  };
}

/**
 * All that a generation is a function of, durable with the accept (ENGINE 4.7, WIRE B3 "order of work"): a later
 * attempt needs nothing else and reads nothing of another response.
 */
export interface GenerationRecord {
  promptIds: number[];
  seed: number;
  sampling: SamplingParameters;
  stop: string[];
  maxOutputTokens: number;
  /** How the text becomes items; absent: it is one message. */
  syntax?: OutputSyntax;
  /** What the output is held to; absent: nothing. */
  constraint?: OutputConstraint;
  /** As GenerationRequest has them. */
  topLogprobs?: number;
  shownTokens?: string[];
  /** Digest of the model files the prompt was rendered and tokenised with. */
  modelDigest: string;
  /** How long the model is to stay loaded afterwards, by wish of the request; absent: no wish. */
  keepAliveSeconds?: number;
}
