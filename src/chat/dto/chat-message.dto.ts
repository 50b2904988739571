import { IsArray, IsDefined, IsIn, IsNotEmpty, IsObject, IsOptional, IsString } from 'class-validator';
import { IsTextOrList, Nested, Unsupported, UNSUPPORTED_VALUE } from '../../http/index.js';
import { Meaning } from '../../openapi/index.js';

export const CHAT_ROLES = ['system', 'developer', 'user', 'assistant', 'tool'] as const;
export type ChatRole = (typeof CHAT_ROLES)[number];

/** One part of a message's content. Pictures, sound and files need a model that can take them in. */
export class ChatContentPartDto {
  @IsDefined()
  @IsIn(['text', 'refusal'], UNSUPPORTED_VALUE)
  type: 'text' | 'refusal';

  @IsOptional()
  @IsString()
  @Meaning('Of a part of type text')
  text?: string | null;

  @IsOptional()
  @IsString()
  @Meaning('Of a part of type refusal, which an assistant wrote')
  refusal?: string | null;
}

export class ChatCalledFunctionDto {
  @IsDefined()
  @IsString()
  @IsNotEmpty()
  name: string;

  @IsDefined()
  @IsString()
  @Meaning('JSON, as the model wrote it')
  arguments: string;
}

/** A call that the assistant has made before. */
export class ChatToolCallDto {
  @IsDefined()
  @IsString()
  @IsNotEmpty()
  id: string;

  @IsOptional()
  @IsIn(['function'], UNSUPPORTED_VALUE)
  type?: 'function' | null;

  @IsDefined()
  @IsObject()
  @Nested(() => ChatCalledFunctionDto)
  function: ChatCalledFunctionDto;
}

export class ChatMessageDto {
  @IsDefined()
  @IsIn(CHAT_ROLES)
  role: ChatRole;

  @IsOptional()
  @IsTextOrList()
  @Nested(() => ChatContentPartDto)
  @Meaning('A text, or parts of one; only an assistant that calls functions needs none')
  content?: string | ChatContentPartDto[] | null;

  @IsOptional()
  @IsArray()
  @Nested(() => ChatToolCallDto)
  @Meaning('Of an assistant: what it called')
  tool_calls?: ChatToolCallDto[] | null;

  @IsOptional()
  @IsString()
  @Meaning('Of a tool: the call that this is the result of')
  tool_call_id?: string | null;

  @Unsupported()
  function_call?: null;

  @Unsupported()
  audio?: null;
}
