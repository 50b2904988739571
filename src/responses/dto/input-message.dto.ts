import { IsDefined, IsIn, IsOptional, IsString } from 'class-validator';
import { IsTextOrList, Nested, Rule, UNSUPPORTED_VALUE } from '../../http/index.js';
import { constant, Meaning } from '../../openapi/index.js';

/** Roles a message of the input may have. */
export const MESSAGE_ROLES = ['user', 'system', 'developer', 'assistant'] as const;
export type MessageRole = (typeof MESSAGE_ROLES)[number];

/** One part of a message's content. Pictures and files need a model that can see. */
export class ContentPartDto {
  @IsDefined()
  @IsIn(['input_text', 'output_text', 'text'], UNSUPPORTED_VALUE)
  type: string;

  @IsDefined()
  @IsString()
  text: string;
}

/** A message, with or without `type` ("easy" messages omit it). Items of no known type are refused here. */
export class InputMessageDto {
  @IsOptional()
  @Rule('isItemType', 'is no type of input that is supported', (type) => type === 'message', 'unsupported_value')
  @Meaning('`message`, or nothing', constant('message'))
  type?: 'message' | null;

  @IsDefined()
  @IsIn(MESSAGE_ROLES)
  role: MessageRole;

  @IsDefined()
  @IsTextOrList()
  @Nested(() => ContentPartDto)
  content: string | ContentPartDto[];

  @IsOptional()
  @IsIn(['commentary', 'final_answer'])
  phase?: string | null;
}
