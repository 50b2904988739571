import { IsDefined, IsIn, IsInt, IsNotEmpty, IsOptional, IsString, Max, MaxLength, Min } from 'class-validator';
import { IsTextOrList, Rule, UNSUPPORTED_VALUE } from '../../http/index.js';
import { KeepAliveField } from '../../models/index.js';
import { either, listOf, Meaning, text } from '../../openapi/index.js';

/** Texts of one request (WIRE B7). */
export const MOST_TEXTS = 2048;
export const ENCODING_FORMATS = ['float', 'base64'] as const;

const INPUT = either([text(undefined, { minLength: 1 }), listOf(text(undefined, { minLength: 1 }))]);

const isTokens = (value: unknown): boolean =>
  Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === 'number' || Array.isArray(each));

/** Body of POST /v1/embeddings. Null means absent in every optional field. */
export class CreateEmbeddingDto {
  @IsDefined()
  @IsString()
  @IsNotEmpty()
  @MaxLength(256)
  @Meaning('Id or alias of an embedding model')
  model: string;

  /** The elements of a list are checked in `encoding-input.ts`, which names the one at fault. */
  @IsDefined()
  @IsTextOrList()
  @Rule(
    'isNotTokens',
    'must be text: tokens of another model would mean something else here',
    (value) => !isTokens(value),
    'unsupported_value',
  )
  @Meaning(`A text, or up to ${MOST_TEXTS} of them`, INPUT)
  input: string | unknown[];

  @IsOptional()
  @IsIn(ENCODING_FORMATS, UNSUPPORTED_VALUE)
  @Meaning('base64: float32, little-endian')
  encoding_format?: (typeof ENCODING_FORMATS)[number] | null;

  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(Number.MAX_SAFE_INTEGER)
  @Meaning('Numbers of a vector, where the model was trained for shorter ones; absent: all')
  dimensions?: number | null;

  @IsOptional()
  @IsString()
  @Meaning('Ignored')
  user?: string | null;

  @KeepAliveField()
  keep_alive_seconds?: number | null;
}
