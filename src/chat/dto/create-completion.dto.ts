import { IsDefined, IsIn, IsInt, IsObject, IsOptional, Max, Min } from 'class-validator';
import { IsTextOrList, Nested, Rule, Unsupported, UNSUPPORTED_VALUE } from '../../http/index.js';
import { either, listOf, Meaning, text } from '../../openapi/index.js';
import { CompletionRequestDto } from './completion-request.dto.js';
import { StreamOptionsDto } from './output-form.dto.js';

const PROMPT = either([text(undefined, { minLength: 1 }), { ...listOf(text()), minItems: 1, maxItems: 1 }]);
/** As OpenAI has it: a prompt without an end of its own would run to the end of the context. */
export const DEFAULT_MAX_TOKENS = 16;

const isOneText = (value: unknown): boolean =>
  !Array.isArray(value) || (value.length === 1 && typeof value[0] === 'string');

/** Body of POST /v1/completions (WIRE B2). Null means absent in every optional field. */
export class CreateCompletionDto extends CompletionRequestDto {
  @IsDefined()
  @IsTextOrList()
  @Rule('isOneText', 'must be one text; tokens and several prompts are not supported', isOneText, 'unsupported_value')
  @Meaning('What the model goes on from, without a chat template; control tokens in it are control tokens', PROMPT)
  prompt: string | [string];

  @IsOptional()
  @IsObject()
  @Nested(() => StreamOptionsDto)
  stream_options?: StreamOptionsDto | null;

  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(Number.MAX_SAFE_INTEGER)
  @Meaning(`Longest answer; absent: ${DEFAULT_MAX_TOKENS}`)
  max_tokens?: number | null;

  // Known, with values that ask for nothing here.

  @IsOptional()
  @IsIn([1], UNSUPPORTED_VALUE)
  best_of?: 1 | null;

  @Unsupported((value) => value === false)
  echo?: false | null;

  @Unsupported((value) => value === '')
  suffix?: '' | null;

  @Unsupported()
  logprobs?: null;
}
