import { IsInt, IsOptional, Max, Min } from 'class-validator';

/** Body of POST /v1/clients/{id}/rotate; may be left out. */
export class RotateClientDto {
  /** Seconds that the old token outlives the rotation by another client. */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(3600)
  grace_seconds?: number | null;
}
