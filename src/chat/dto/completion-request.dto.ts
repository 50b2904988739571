import { IsBoolean, IsDefined, IsIn, IsNotEmpty, IsOptional, IsString, MaxLength } from 'class-validator';
import { UNSUPPORTED_VALUE } from '../../http/index.js';
import { KeepAliveField } from '../../models/index.js';
import { Meaning } from '../../openapi/index.js';
import { SamplingDto } from '../../responses/index.js';

/** What both of OpenAI's older requests for text have. */
export abstract class CompletionRequestDto extends SamplingDto {
  @IsDefined()
  @IsString()
  @IsNotEmpty()
  @MaxLength(256)
  @Meaning('Id or alias of a model')
  model: string;

  @IsOptional()
  @IsBoolean()
  @Meaning('Answers in chunks, as they come')
  stream?: boolean | null;

  @IsOptional()
  @IsString()
  user?: string | null;

  @KeepAliveField()
  keep_alive_seconds?: number | null;

  // Known, with values that ask for nothing here.

  @IsOptional()
  @IsIn([1], UNSUPPORTED_VALUE)
  n?: 1 | null;
}
