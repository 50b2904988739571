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
import { either, listOf, mapOf, Meaning, nullable, number, text } from '../../openapi/index.js';
import { ON_RESTART_POLICIES, type OnRestart } from '../../tasks/index.js';
import { InputMessageDto } from './input-message.dto.js';
import { ReasoningDto, TextOptionsDto } from './output-options.dto.js';

const LOGPROBS = 'message.output_text.logprobs';
const TIERS = ['auto', 'default', 'flex', 'scale', 'priority'];

const STOP = nullable(either([text(), listOf(text())]));
const METADATA = nullable(mapOf(text()));
const LOGIT_BIAS = nullable(mapOf(number(undefined, { minimum: -100, maximum: 100 })));

/** Body of POST /v1/responses (WIRE B3). Null means absent in every optional field. */
export class CreateResponseDto {
  @IsDefined()
  @IsString()
  @IsNotEmpty()
  @MaxLength(256)
  @Meaning('Id or alias of a model')
  model: string;

  @IsDefined()
  @IsTextOrList()
  @Rule('hasInput', 'must not be empty', (value) => (value as { length?: number } | null | undefined)?.length !== 0)
  @Nested(() => InputMessageDto)
  @Meaning('The question: a text, or messages')
  input: string | InputMessageDto[];

  @IsOptional()
  @IsString()
  @Meaning('What the model is told before the input')
  instructions?: string | null;

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

  // How tokens are drawn.

  @IsOptional()
  @IsNumber()
  @Min(0)
  @Max(2)
  @Meaning("0 takes the likeliest token; absent: the model's own")
  temperature?: number | null;

  @IsOptional()
  @IsNumber()
  @Min(0)
  @Max(1)
  @Meaning('Share of the probability that tokens are drawn from')
  top_p?: number | null;

  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(Number.MAX_SAFE_INTEGER)
  @Meaning('As many of the likeliest tokens are drawn from; 0: all')
  top_k?: number | null;

  @IsOptional()
  @IsNumber()
  @Min(0)
  @Max(1)
  @Meaning('Least probability, relative to the likeliest token')
  min_p?: number | null;

  @IsOptional()
  @IsNumber()
  @Min(-2)
  @Max(2)
  @Meaning('Against tokens that came already')
  presence_penalty?: number | null;

  @IsOptional()
  @IsNumber()
  @Min(-2)
  @Max(2)
  @Meaning('Against tokens, the more often they came')
  frequency_penalty?: number | null;

  @IsOptional()
  @IsNumber()
  @Min(0.01)
  @Max(10)
  @Meaning('Divides the logits of tokens that came already; 1: none')
  repetition_penalty?: number | null;

  /** Token id → -100..100, checked in `sampling.ts`. */
  @IsOptional()
  @IsObject()
  @Meaning('Token id to -100..100, added to its logit', LOGIT_BIAS)
  logit_bias?: Record<string, unknown> | null;

  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(Number.MAX_SAFE_INTEGER)
  @Meaning('Gives the same answer again; absent: random, and told in `lmsp.seed`')
  seed?: number | null;

  /** One text or up to four, checked in `sampling.ts`. */
  @IsOptional()
  @IsTextOrList()
  @Meaning('A text, or up to four, that ends the answer and is not part of it', STOP)
  stop?: string | unknown[] | null;

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
