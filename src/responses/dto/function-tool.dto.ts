import { IsBoolean, IsDefined, IsIn, IsObject, IsOptional, IsString, Matches, MaxLength } from 'class-validator';
import { UNSUPPORTED_VALUE } from '../../http/index.js';
import { Meaning } from '../../openapi/index.js';

/** Names that every client takes. */
export const FUNCTION_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** A function of the client's that the model may call. Tools that a service would run itself are not supported. */
export class FunctionToolDto {
  @IsDefined()
  @IsIn(['function'], UNSUPPORTED_VALUE)
  type: 'function';

  @IsDefined()
  @IsString()
  @Matches(FUNCTION_NAME)
  @Meaning('1 to 64 letters, digits, `_` and `-`', { type: 'string', pattern: FUNCTION_NAME.source })
  name: string;

  @IsOptional()
  @IsString()
  @MaxLength(16_384)
  description?: string | null;

  @IsOptional()
  @IsObject()
  @Meaning('JSON schema of its arguments')
  parameters?: Record<string, unknown> | null;

  @IsOptional()
  @IsBoolean()
  @Meaning('Calls are held to the schema while they are written')
  strict?: boolean | null;
}
