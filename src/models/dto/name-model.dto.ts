import { IsNotEmpty, IsString, MaxLength } from 'class-validator';

/** Body of POST /v1/models/unload. */
export class NameModelDto {
  /** Id or alias. */
  @IsString()
  @IsNotEmpty()
  @MaxLength(256)
  model: string;
}
