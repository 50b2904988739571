import { IsOptional } from 'class-validator';
import type { Scope } from '../../clients/index.js';
import { IsName, IsScopes } from './names.js';

/** Body of PATCH /v1/clients/{id}. */
export class ChangeClientDto {
  @IsOptional()
  @IsName()
  name?: string | null;

  @IsOptional()
  @IsScopes()
  scopes?: Scope[] | null;
}
