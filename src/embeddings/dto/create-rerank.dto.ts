import { IsArray, IsDefined, IsInt, IsNotEmpty, IsOptional, IsString, Max, MaxLength, Min } from 'class-validator';
import { Unsupported } from '../../http/index.js';
import { KeepAliveField } from '../../models/index.js';
import { listOf, Meaning, text } from '../../openapi/index.js';
import { MOST_TEXTS } from './create-embedding.dto.js';

/** Body of POST /v1/rerank. Null means absent in every optional field. */
export class CreateRerankDto {
  @IsDefined()
  @IsString()
  @IsNotEmpty()
  @MaxLength(256)
  @Meaning('Id or alias of a rerank model')
  model: string;

  @IsDefined()
  @IsString()
  @IsNotEmpty()
  @Meaning('What the documents are compared with')
  query: string;

  /** The elements are checked in `encoding-input.ts`, which names the one at fault. */
  @IsDefined()
  @IsArray()
  @Meaning(`Up to ${MOST_TEXTS} texts`, listOf(text(undefined, { minLength: 1 })))
  documents: unknown[];

  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(Number.MAX_SAFE_INTEGER)
  @Meaning('As many of the best are returned; absent: all')
  top_n?: number | null;

  /** The caller has them. */
  @Unsupported((value) => value === false)
  return_documents?: boolean | null;

  @KeepAliveField()
  keep_alive_seconds?: number | null;
}
