import { IsArray, IsBoolean, IsDefined, IsInt, IsObject, IsOptional, IsString, Max, Min } from 'class-validator';
import { Nested, Rule, Unsupported } from '../../http/index.js';
import { anything, Meaning } from '../../openapi/index.js';
import { ChatMessageDto } from './chat-message.dto.js';
import { CompletionRequestDto } from './completion-request.dto.js';
import { ChatToolDto, ResponseFormatDto, StreamOptionsDto } from './output-form.dto.js';

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;
const isTextAlone = (value: unknown): boolean => Array.isArray(value) && value.every((each) => each === 'text');
const isTextOrObject = (value: unknown): boolean =>
  typeof value === 'string' || (typeof value === 'object' && value !== null && !Array.isArray(value));

/**
 * Body of POST /v1/chat/completions (WIRE B7). Null means absent in every optional field. What it has in common with a
 * response is checked as a response's.
 */
export class CreateChatCompletionDto extends CompletionRequestDto {
  @IsDefined()
  @IsArray()
  @Rule('hasMessages', 'must not be empty', (value) => !isEmptyList(value))
  @Nested(() => ChatMessageDto)
  messages: ChatMessageDto[];

  @IsOptional()
  @IsObject()
  @Nested(() => StreamOptionsDto)
  stream_options?: StreamOptionsDto | null;

  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(Number.MAX_SAFE_INTEGER)
  @Meaning('Longest answer')
  max_completion_tokens?: number | null;

  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(Number.MAX_SAFE_INTEGER)
  @Meaning('Older name of `max_completion_tokens`, which wins')
  max_tokens?: number | null;

  @IsOptional()
  @IsArray()
  @Nested(() => ChatToolDto)
  @Meaning('Functions that the model may call')
  tools?: ChatToolDto[] | null;

  @IsOptional()
  @Rule('isTextOrObject', 'must be a string or an object', isTextOrObject, 'invalid_type')
  @Meaning('none, auto, required, or the function to call', anything('A word or an object'))
  tool_choice?: string | Record<string, unknown> | null;

  @IsOptional()
  @IsBoolean()
  parallel_tool_calls?: boolean | null;

  @IsOptional()
  @IsObject()
  @Nested(() => ResponseFormatDto)
  response_format?: ResponseFormatDto | null;

  @IsOptional()
  @IsBoolean()
  @Meaning('Tells how probable each token was')
  logprobs?: boolean | null;

  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(20)
  @Meaning('As many of the likeliest tokens with each; needs `logprobs`')
  top_logprobs?: number | null;

  @IsOptional()
  @IsString()
  reasoning_effort?: string | null;

  @IsOptional()
  @IsString()
  verbosity?: string | null;

  @IsOptional()
  @IsString()
  safety_identifier?: string | null;

  @IsOptional()
  @IsString()
  prompt_cache_key?: string | null;

  @IsOptional()
  @IsString()
  service_tier?: string | null;

  // Known, with values that ask for nothing here.

  @IsOptional()
  @IsArray()
  @Rule('textAlone', 'may be ["text"] only', isTextAlone, 'unsupported_value')
  modalities?: 'text'[] | null;

  @Unsupported()
  audio?: null;

  @Unsupported(isEmptyList)
  functions?: [] | null;

  @Unsupported((value) => value === 'auto' || value === 'none')
  function_call?: 'auto' | 'none' | null;

  @Unsupported()
  prediction?: null;

  @Unsupported()
  web_search_options?: null;
}
