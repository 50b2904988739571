import { IsInt, IsOptional, Max, Min } from 'class-validator';
import type { Scope } from '../../clients/index.js';
import { IsName, IsScopes, LONGEST_LIFE_SECONDS } from './names.js';

/** Body of POST /v1/pairings/{user_code}/approve; may be left out. */
export class ApprovePairingDto {
  /** Narrows what was asked for; absent: all of it but the privileged scopes. */
  @IsOptional()
  @IsScopes()
  scopes?: Scope[] | null;

  @IsOptional()
  @IsName()
  name?: string | null;

  /** Seconds; absent: the token is good until it is revoked. */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(LONGEST_LIFE_SECONDS)
  token_expires_in?: number | null;
}
