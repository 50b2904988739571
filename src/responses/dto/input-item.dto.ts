import { IsArray, IsDefined, IsIn, IsNotEmpty, IsOptional, IsString, Matches, MaxLength } from 'class-validator';
import { IsTextOrList, Nested, UNSUPPORTED_VALUE, type DtoVariants } from '../../http/index.js';
import { Meaning } from '../../openapi/index.js';
import { FUNCTION_NAME } from './function-tool.dto.js';
import { ContentPartDto, InputMessageDto } from './input-message.dto.js';

/** An item of a stored response, by its id. */
export class ItemReferenceDto {
  @IsDefined()
  @IsIn(['item_reference'])
  type: 'item_reference';

  @IsDefined()
  @IsString()
  @IsNotEmpty()
  @MaxLength(256)
  @Meaning('Of an item in the input or output of a stored response of yours')
  id: string;
}

/** A call that a model has made. */
export class FunctionCallDto {
  @IsDefined()
  @IsIn(['function_call'])
  type: 'function_call';

  @IsDefined()
  @IsString()
  @IsNotEmpty()
  @MaxLength(256)
  call_id: string;

  @IsDefined()
  @IsString()
  @Matches(FUNCTION_NAME)
  name: string;

  @IsDefined()
  @IsString()
  @Meaning('A JSON object as text')
  arguments: string;
}

/** What a function has returned. */
export class FunctionCallOutputDto {
  @IsDefined()
  @IsIn(['function_call_output'])
  type: 'function_call_output';

  @IsDefined()
  @IsString()
  @IsNotEmpty()
  @MaxLength(256)
  @Meaning('Of a call that came before')
  call_id: string;

  @IsDefined()
  @IsTextOrList()
  @Nested(() => ContentPartDto)
  @Meaning('A text, or parts of one')
  output: string | ContentPartDto[];
}

/** A part of what a model has thought. */
export class ReasoningPartDto {
  @IsDefined()
  @IsIn(['summary_text', 'reasoning_text', 'text'], UNSUPPORTED_VALUE)
  type: string;

  @IsDefined()
  @IsString()
  text: string;
}

/** What a model has thought; it is given to models again whose template asks for it. */
export class ReasoningItemDto {
  @IsDefined()
  @IsIn(['reasoning'])
  type: 'reasoning';

  @IsOptional()
  @IsArray()
  @Nested(() => ReasoningPartDto)
  summary?: ReasoningPartDto[] | null;
}

/** One item of the input. */
export type InputItemDto =
  InputMessageDto | ItemReferenceDto | FunctionCallDto | FunctionCallOutputDto | ReasoningItemDto;

const BY_TYPE = {
  item_reference: ItemReferenceDto,
  function_call: FunctionCallDto,
  function_call_output: FunctionCallOutputDto,
  reasoning: ReasoningItemDto,
};

/** Items by their `type`; a message may do without. */
export const INPUT_ITEMS: DtoVariants = {
  all: [InputMessageDto, ...Object.values(BY_TYPE)],
  of: (plain) => {
    const { type } = plain as { type?: unknown };
    return typeof type === 'string' && Object.hasOwn(BY_TYPE, type)
      ? BY_TYPE[type as keyof typeof BY_TYPE]
      : InputMessageDto;
  },
};
