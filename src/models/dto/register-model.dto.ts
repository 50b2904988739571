import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsDefined,
  IsIn,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { EXECUTION_PROVIDERS, type Activations, type ExecutionProvider } from '../../inference/index.js';
import { Nested, Rule, UNSUPPORTED_VALUE } from '../../http/index.js';
import { listOf, Meaning, nullable, text } from '../../openapi/index.js';
import { DTYPES, LAYOUTS, type Dtype, type ModelLayout } from '../find-graph.js';
import { KeepAliveField } from '../keep-alive.js';
import { isModelId } from '../model-id.js';
import { MODEL_TYPES, type ModelType } from '../model-record.js';

const NAME = 'Letters, digits and `. _ : @ + -`, in parts divided by `/`';

export class ModelSourceDto {
  @IsDefined()
  @IsIn(['directory'], UNSUPPORTED_VALUE)
  type: 'directory';

  @IsDefined()
  @IsString()
  @MaxLength(4096)
  @Meaning('Absolute path of the folder on the machine of the service; its files stay there and are never written')
  path: string;
}

/** Body of POST /v1/models. */
export class RegisterModelDto {
  @IsDefined()
  @Rule('isModelId', 'must be a name of 1 to 128 letters, digits and . _ : @ + -, in parts divided by /', isModelId)
  @Meaning(NAME, text(undefined, { minLength: 1, maxLength: 128 }))
  id: string;

  @IsDefined()
  @IsIn(MODEL_TYPES)
  type: ModelType;

  @IsDefined()
  @IsObject()
  @Nested(() => ModelSourceDto)
  source: ModelSourceDto;

  @IsOptional()
  @IsIn(DTYPES)
  @Meaning('Which graph of the folder; absent: the first that there is, in this order')
  dtype?: Dtype | null;

  @IsOptional()
  @IsIn(LAYOUTS)
  layout?: ModelLayout | null;

  @IsOptional()
  @IsIn(['int8', 'file'])
  @Meaning('How activations are computed on the processor: by fast int8 kernels, or as the graph file says')
  activations?: Activations | null;

  @IsOptional()
  @IsIn(EXECUTION_PROVIDERS)
  @Meaning('What computes it; absent: as the service is set')
  execution_provider?: ExecutionProvider | null;

  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(255)
  @Meaning('Number of the graphics card; absent: as the service is set')
  device_id?: number | null;

  @IsOptional()
  @IsInt()
  @Min(2)
  @Max(2 ** 31)
  @Meaning('Bounds the context below what the model allows, to save memory')
  context_length?: number | null;

  @IsOptional()
  @IsArray()
  @ArrayMaxSize(16)
  @Rule('areModelIds', 'must be names like ids, each once', areModelIds)
  @Meaning('Further names by which requests may call it', nullable(listOf(text())))
  aliases?: string[] | null;

  @IsOptional()
  @IsBoolean()
  @Meaning('Loaded soon after each start, and never unloaded for another model or for being idle')
  pinned?: boolean | null;

  @KeepAliveField('It stays loaded so long when nobody uses it, unless a request wishes otherwise; -1: for ever')
  keep_alive_seconds?: number | null;
}

function areModelIds(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  return Array.isArray(value) && value.every(isModelId) && new Set(value).size === value.length;
}
