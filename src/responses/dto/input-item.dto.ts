import { IsDefined, IsIn, IsNotEmpty, IsString, MaxLength } from 'class-validator';
import type { DtoVariants } from '../../http/index.js';
import { Meaning } from '../../openapi/index.js';
import { InputMessageDto } from './input-message.dto.js';

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

/** One item of the input. */
export type InputItemDto = InputMessageDto | ItemReferenceDto;

/** Items by their `type`; a message may do without. */
export const INPUT_ITEMS: DtoVariants = {
  all: [InputMessageDto, ItemReferenceDto],
  of: (plain) => ((plain as { type?: unknown }).type === 'item_reference' ? ItemReferenceDto : InputMessageDto),
};
