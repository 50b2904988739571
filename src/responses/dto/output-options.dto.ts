import { IsBoolean, IsDefined, IsIn, IsObject, IsOptional, IsString, MaxLength } from 'class-validator';
import { Nested, Rule, UNSUPPORTED_VALUE } from '../../http/index.js';
import { Meaning, object, text } from '../../openapi/index.js';

/** `text.format`: what the answer must be; enforced token by token. */
export class TextFormatDto {
  @IsDefined()
  @IsIn(['text', 'json_object', 'json_schema'], UNSUPPORTED_VALUE)
  type: 'text' | 'json_object' | 'json_schema';

  @Rule('named', 'must be 1 to 64 letters, digits, _ or -', (value, { object }) => !isSchema(object) || isName(value))
  @Meaning('Of a `json_schema`', text())
  name?: string;

  @Rule('isSchema', 'must be a JSON schema', (value, { object }) => !isSchema(object) || isObject(value))
  @Meaning(
    'JSON Schema of a `json_schema`. A keyword that cannot be enforced is refused; properties come in their order',
    object({}),
  )
  schema?: Record<string, unknown>;

  @IsOptional()
  @IsString()
  @MaxLength(4096)
  description?: string | null;

  @IsOptional()
  @IsBoolean()
  @Meaning('The schema is enforced in any case')
  strict?: boolean | null;
}

function isSchema(format: object): boolean {
  return (format as TextFormatDto).type === 'json_schema';
}

function isName(value: unknown): boolean {
  return typeof value === 'string' && /^[a-zA-Z0-9_-]{1,64}$/.test(value);
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
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
