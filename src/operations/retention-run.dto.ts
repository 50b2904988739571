import { IsBoolean, IsOptional } from 'class-validator';

/** Body of POST /v1/service/retention/run; may be left out. */
export class RetentionRunDto {
  /** Tells what a run would remove, and removes nothing. */
  @IsOptional()
  @IsBoolean()
  dry_run?: boolean | null;
}
