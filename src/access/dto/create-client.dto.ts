import { IsInt, IsOptional, Max, Min } from 'class-validator';
import type { Scope } from '../../clients/index.js';
import { IsName, IsScopes, LONGEST_LIFE_SECONDS } from './names.js';

/** Body of POST /v1/clients. */
export class CreateClientDto {
  @IsName()
  name: string;

  @IsScopes()
  scopes: Scope[];

  /** Seconds; absent or null: the token is good until it is revoked. */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(LONGEST_LIFE_SECONDS)
  expires_in?: number | null;
}
