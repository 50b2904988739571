import { IsOptional, IsString, MaxLength } from 'class-validator';
import { IsName } from './names.js';

/** Longer than any token or code of ours. */
const MOST_CHARACTERS = 512;

/** Body of POST /oauth/device_authorization (RFC 8628 3.1). */
export class DeviceAuthorizationDto {
  /** The software's own name. */
  @IsName()
  client_id: string;

  /** Scopes with spaces between them; absent: the usual ones. */
  @IsOptional()
  @IsString()
  @MaxLength(MOST_CHARACTERS)
  scope?: string | null;

  /** What the owner sees; absent: `client_id`. */
  @IsOptional()
  @IsName()
  client_name?: string | null;
}

/** Body of POST /oauth/token (RFC 8628 3.4). */
export class TokenDto {
  @IsString()
  grant_type: string;

  @IsString()
  @MaxLength(MOST_CHARACTERS)
  device_code: string;

  @IsName()
  client_id: string;
}

/** Body of POST /oauth/revoke (RFC 7009 2.1). */
export class RevokeDto {
  @IsString()
  @MaxLength(MOST_CHARACTERS)
  token: string;
}
