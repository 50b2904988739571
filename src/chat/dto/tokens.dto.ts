import { IsArray, IsDefined, IsNotEmpty, IsString, MaxLength } from 'class-validator';
import { integer, listOf, Meaning } from '../../openapi/index.js';

abstract class OfModelDto {
  @IsDefined()
  @IsString()
  @IsNotEmpty()
  @MaxLength(256)
  @Meaning('Id or alias of a model of any type')
  model: string;
}

/** Body of POST /v1/tokenize. */
export class TokenizeDto extends OfModelDto {
  @IsDefined()
  @IsString()
  @Meaning('Special tokens that it spells are the tokens themselves; none are added')
  text: string;
}

/** Body of POST /v1/detokenize. */
export class DetokenizeDto extends OfModelDto {
  /** The elements are checked where they are read, which names the one at fault. */
  @IsDefined()
  @IsArray()
  @Meaning('Ids of the model', listOf(integer()))
  tokens: unknown[];
}
