import { IsDefined, IsIn, IsOptional } from 'class-validator';
import { Rule } from '../../http/index.js';
import { DTYPES, isModelId, type Dtype } from '../../models/index.js';
import { Meaning, nullable, text } from '../../openapi/index.js';
import { isRepositoryName, isRevision } from '../hub/repository-name.js';

const isAbsent = (value: unknown): boolean => value === undefined || value === null;

/** Body of POST /v1/models/pull. */
export class PullModelDto {
  @IsDefined()
  @Rule('isRepositoryName', 'must be the name of a repository, owner/name', isRepositoryName)
  @Meaning('Name of the repository at the hub', text('e.g. `owner/name`', { minLength: 1, maxLength: 193 }))
  repository: string;

  @IsOptional()
  @Rule('isRevision', 'must be a branch, a tag or a commit', (value) => isAbsent(value) || isRevision(value))
  @Meaning('Branch, tag or commit; absent: `main`. The commit that it is when the pull begins stays', nullable(text()))
  revision?: string | null;

  @IsOptional()
  @Rule('isModelId', 'must be a name like that of a model', (value) => isAbsent(value) || isModelId(value))
  @Meaning('What the model is called here; absent: as the repository', nullable(text()))
  id?: string | null;

  @IsOptional()
  @IsIn(DTYPES)
  @Meaning('Which graph of the repository; absent: the first that there is, in this order')
  dtype?: Dtype | null;
}
