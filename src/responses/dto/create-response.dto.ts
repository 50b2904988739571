import {
  IsArray,
  IsBoolean,
  IsDefined,
  IsIn,
  IsInt,
  IsNotEmpty,
  IsNumber,
  IsObject,
  IsOptional,
  IsString,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { IsTextOrList, Nested, Rule, Unsupported, UNSUPPORTED_VALUE } from '../../http/index.js';
import { ON_RESTART_POLICIES, type OnRestart } from '../../tasks/index.js';
import { InputMessageDto } from './input-message.dto.js';
import { ReasoningDto, TextOptionsDto } from './output-options.dto.js';

const LOGPROBS = 'message.output_text.logprobs';
const TIERS = ['auto', 'default', 'flex', 'scale', 'priority'];

/** Body of POST /v1/responses (WIRE B3). Null means absent in every optional field. */
export class CreateResponseDto {
  @IsDefined()
  @IsString()
  @IsNotEmpty()
  @MaxLength(256)
  model: string;

  @IsDefined()
  @IsTextOrList()
  @Rule('hasInput', 'must not be empty', (value) => (value as { length?: number } | null | undefined)?.length !== 0)
  @Nested(() => InputMessageDto)
  input: string | InputMessageDto[];

  @IsOptional()
  @IsString()
  instructions?: string | null;

  // How it runs.

  @IsOptional()
  @IsBoolean()
  stream?: boolean | null;

  @IsOptional()
  @IsBoolean()
  background?: boolean | null;

  @IsOptional()
  @IsBoolean()
  store?: boolean | null;

  @IsOptional()
  @IsIn(ON_RESTART_POLICIES)
  on_restart?: OnRestart | null;

  // How tokens are drawn.

  @IsOptional()
  @IsNumber()
  @Min(0)
  @Max(2)
  temperature?: number | null;

  @IsOptional()
  @IsNumber()
  @Min(0)
  @Max(1)
  top_p?: number | null;

  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(Number.MAX_SAFE_INTEGER)
  top_k?: number | null;

  @IsOptional()
  @IsNumber()
  @Min(0)
  @Max(1)
  min_p?: number | null;

  @IsOptional()
  @IsNumber()
  @Min(-2)
  @Max(2)
  presence_penalty?: number | null;

  @IsOptional()
  @IsNumber()
  @Min(-2)
  @Max(2)
  frequency_penalty?: number | null;

  @IsOptional()
  @IsNumber()
  @Min(0.01)
  @Max(10)
  repetition_penalty?: number | null;

  /** Token id → -100..100, checked in `sampling.ts`. */
  @IsOptional()
  @IsObject()
  logit_bias?: Record<string, unknown> | null;

  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(Number.MAX_SAFE_INTEGER)
  seed?: number | null;

  /** One text or up to four, checked in `sampling.ts`. */
  @IsOptional()
  @IsTextOrList()
  stop?: string | unknown[] | null;

  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(Number.MAX_SAFE_INTEGER)
  max_output_tokens?: number | null;

  // What is kept and echoed.

  /** Up to 16 texts, checked in `metadata.ts`. */
  @IsOptional()
  @IsObject()
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
  reasoning?: ReasoningDto | null;

  @IsOptional()
  @IsObject()
  @Nested(() => TextOptionsDto)
  text?: TextOptionsDto | null;

  // Known, with values that ask for nothing here.

  @IsOptional()
  @IsArray()
  @IsString({ each: true })
  @Rule('noLogprobs', `cannot ask for ${LOGPROBS}`, (value) => !isListWith(value, LOGPROBS), 'unsupported_value')
  include?: string[] | null;

  @IsOptional()
  @IsObject()
  stream_options?: object | null;

  @IsOptional()
  @IsIn(['disabled'], UNSUPPORTED_VALUE)
  truncation?: 'disabled' | null;

  @IsOptional()
  @IsBoolean()
  parallel_tool_calls?: boolean | null;

  @IsOptional()
  @IsInt()
  @Min(1)
  max_tool_calls?: number | null;

  @Unsupported((value) => Array.isArray(value) && value.length === 0)
  tools?: [] | null;

  @Unsupported((value) => value === 'auto' || value === 'none')
  tool_choice?: 'auto' | 'none' | null;

  @Unsupported((value) => value === 0)
  top_logprobs?: 0 | null;

  @Unsupported()
  previous_response_id?: null;

  @Unsupported()
  conversation?: null;

  @Unsupported()
  prompt?: null;

  @Unsupported()
  context_management?: null;

  @Unsupported()
  moderation?: null;

  @Unsupported()
  keep_alive_seconds?: null;
}

function isListWith(value: unknown, word: string): boolean {
  return Array.isArray(value) && value.includes(word);
}
