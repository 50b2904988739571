import {
  IsArray,
  IsBoolean,
  IsDefined,
  IsIn,
  IsInt,
  IsNotEmpty,
  IsObject,
  IsOptional,
  IsString,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { IsTextOrList, Nested, Rule, Unsupported, UNSUPPORTED_VALUE } from '../../http/index.js';
import { KeepAliveField } from '../../models/index.js';
import { constant, either, listOf, mapOf, Meaning, nullable, object, oneOfWords, text } from '../../openapi/index.js';
import { ON_RESTART_POLICIES, type OnRestart } from '../../tasks/index.js';
import { FunctionToolDto } from './function-tool.dto.js';
import { INPUT_ITEMS, type InputItemDto } from './input-item.dto.js';
import { ReasoningDto, TextOptionsDto } from './output-options.dto.js';
import { SamplingDto } from './sampling.dto.js';

/** The word of `include` that asks for log probabilities. */
export const LOGPROBS = 'message.output_text.logprobs';
const TIERS = ['auto', 'default', 'flex', 'scale', 'priority'];

const FUNCTION = object({ type: constant('function'), name: text() });
const ALLOWED = object({
  type: constant('allowed_tools'),
  mode: oneOfWords(['auto', 'required']),
  tools: listOf(FUNCTION),
});
const TOOL_CHOICE = nullable(either([oneOfWords(['none', 'auto', 'required']), FUNCTION, ALLOWED]));
const METADATA = nullable(mapOf(text()));

/** Body of POST /v1/responses (WIRE B3). Null means absent in every optional field. */
export class CreateResponseDto extends SamplingDto {
  @IsDefined()
  @IsString()
  @IsNotEmpty()
  @MaxLength(256)
  @Meaning('Id or alias of a model')
  model: string;

  @IsDefined()
  @IsTextOrList()
  @Rule('hasInput', 'must not be empty', (value) => (value as { length?: number } | null | undefined)?.length !== 0)
  @Nested(() => INPUT_ITEMS)
  @Meaning('The question: a text, or items')
  input: string | InputItemDto[];

  @IsOptional()
  @IsString()
  @Meaning('What the model is told before the input')
  instructions?: string | null;

  @IsOptional()
  @IsString()
  @MaxLength(256)
  @Meaning('A response of yours to go on from: its input and output come before this input, its instructions do not')
  previous_response_id?: string | null;

  // What the model may call.

  @IsOptional()
  @IsArray()
  @Nested(() => FunctionToolDto)
  @Meaning('Functions of yours; the answer has their calls, and you send what they return with the next request')
  tools?: FunctionToolDto[] | null;

  /** Checked in `tool-use.ts`. */
  @IsOptional()
  @Rule('isTextOrObject', 'must be a string or an object', (value) => ['string', 'object'].includes(typeof value))
  @Meaning('Whether there must be a call, or of which functions', TOOL_CHOICE)
  tool_choice?: unknown;

  @IsOptional()
  @IsBoolean()
  @Meaning('False: one call at most')
  parallel_tool_calls?: boolean | null;

  @IsOptional()
  @IsInt()
  @Min(1)
  @Meaning('Calls at most: the answer ends before a further one')
  max_tool_calls?: number | null;

  // How it runs.

  @IsOptional()
  @IsBoolean()
  @Meaning('Answers with the events as they are written')
  stream?: boolean | null;

  @IsOptional()
  @IsBoolean()
  @Meaning('Answers 202 once the task is on disk; it ends whatever happens to the client or the service')
  background?: boolean | null;

  @IsOptional()
  @IsBoolean()
  @Meaning('False keeps nothing and cannot be asked for later')
  store?: boolean | null;

  @IsOptional()
  @IsIn(ON_RESTART_POLICIES)
  @Meaning(
    'What becomes of it at a restart of the service: fails, starts anew, or goes on where it was. Background only',
  )
  on_restart?: OnRestart | null;

  @KeepAliveField()
  keep_alive_seconds?: number | null;

  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(Number.MAX_SAFE_INTEGER)
  @Meaning('Longest answer')
  max_output_tokens?: number | null;

  // What is kept and echoed.

  /** Up to 16 texts, checked in `metadata.ts`. */
  @IsOptional()
  @IsObject()
  @Meaning('Up to 16 texts of yours, kept with response and task', METADATA)
  metadata?: Record<string, unknown> | null;

  @IsOptional()
  @IsString()
  @MaxLength(512)
  user?: string | null;

  @IsOptional()
  @IsString()
  @MaxLength(64)
  safety_identifier?: string | null;

  @IsOptional()
  @IsString()
  @MaxLength(64)
  prompt_cache_key?: string | null;

  @IsOptional()
  @IsIn(TIERS)
  service_tier?: string | null;

  @IsOptional()
  @IsObject()
  @Nested(() => ReasoningDto)
  @Meaning('Accepted and echoed')
  reasoning?: ReasoningDto | null;

  @IsOptional()
  @IsObject()
  @Nested(() => TextOptionsDto)
  @Meaning('How the answer is written')
  text?: TextOptionsDto | null;

  // Known, with values that ask for nothing here.

  @IsOptional()
  @IsArray()
  @IsString({ each: true })
  @Meaning('`message.output_text.logprobs`: log probabilities of the tokens; nothing else has an effect')
  include?: string[] | null;

  @IsOptional()
  @IsObject()
  stream_options?: object | null;

  @IsOptional()
  @IsIn(['disabled'], UNSUPPORTED_VALUE)
  truncation?: 'disabled' | null;

  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(20)
  @Meaning('Log probabilities, of as many of the likeliest tokens too')
  top_logprobs?: number | null;

  @Unsupported()
  conversation?: null;

  @Unsupported()
  prompt?: null;

  @Unsupported()
  context_management?: null;

  @Unsupported()
  moderation?: null;
}

/** Of how many of the likeliest tokens log probabilities are asked for; null: for none at all. */
export function logprobsAskedFor({
  include,
  top_logprobs: top,
}: Pick<CreateResponseDto, 'include' | 'top_logprobs'>): number | null {
  return include?.includes(LOGPROBS) || top ? (top ?? 0) : null;
}
