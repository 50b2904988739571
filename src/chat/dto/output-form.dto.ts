import { IsBoolean, IsDefined, IsIn, IsObject, IsOptional, IsString } from 'class-validator';
import { Nested, UNSUPPORTED_VALUE } from '../../http/index.js';
import { Meaning } from '../../openapi/index.js';

/** A function that the model may call. */
export class ChatFunctionDto {
  @IsDefined()
  @IsString()
  name: string;

  @IsOptional()
  @IsString()
  description?: string | null;

  @IsOptional()
  @IsObject()
  @Meaning('JSON Schema of its arguments')
  parameters?: Record<string, unknown> | null;

  @IsOptional()
  @IsBoolean()
  strict?: boolean | null;
}

export class ChatToolDto {
  @IsDefined()
  @IsIn(['function'], UNSUPPORTED_VALUE)
  type: 'function';

  @IsDefined()
  @IsObject()
  @Nested(() => ChatFunctionDto)
  function: ChatFunctionDto;
}

export class ChatJsonSchemaDto {
  @IsDefined()
  @IsString()
  name: string;

  @IsOptional()
  @IsString()
  description?: string | null;

  @IsOptional()
  @IsObject()
  schema?: Record<string, unknown> | null;

  @IsOptional()
  @IsBoolean()
  strict?: boolean | null;
}

export class ResponseFormatDto {
  @IsDefined()
  @IsIn(['text', 'json_object', 'json_schema'], UNSUPPORTED_VALUE)
  type: 'text' | 'json_object' | 'json_schema';

  @IsOptional()
  @IsObject()
  @Nested(() => ChatJsonSchemaDto)
  json_schema?: ChatJsonSchemaDto | null;
}

export class StreamOptionsDto {
  @IsOptional()
  @IsBoolean()
  @Meaning('A last chunk tells the usage')
  include_usage?: boolean | null;
}
