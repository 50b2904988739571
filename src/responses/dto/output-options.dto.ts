import { IsDefined, IsIn, IsObject, IsOptional, IsString, MaxLength } from 'class-validator';
import { Nested, UNSUPPORTED_VALUE } from '../../http/index.js';

/** `text.format`: constrained output is not built. */
export class TextFormatDto {
  @IsDefined()
  @IsIn(['text'], UNSUPPORTED_VALUE)
  type: 'text';
}

/** `text`: how the answer is written. */
export class TextOptionsDto {
  @IsOptional()
  @IsObject()
  @Nested(() => TextFormatDto)
  format?: TextFormatDto | null;

  @IsOptional()
  @IsIn(['medium'], UNSUPPORTED_VALUE)
  verbosity?: string | null;
}

/** `reasoning`: accepted and echoed; without a thinking model it has no effect. */
export class ReasoningDto {
  @IsOptional()
  @IsString()
  @MaxLength(32)
  effort?: string | null;

  @IsOptional()
  @IsString()
  @MaxLength(32)
  summary?: string | null;
}
