import { Equals, IsDefined, IsIn, IsObject, IsOptional, IsString, MaxLength } from 'class-validator';
import { UNSUPPORTED_VALUE } from '../../http/index.js';
import { anything, boolean, mapOf, Meaning, nullable, text } from '../../openapi/index.js';
import { ON_RESTART_POLICIES, type OnRestart } from '../task-transitions.js';

/** Body of POST /v1/tasks (WIRE B2). Null means absent in every optional field. */
export class CreateTaskDto {
  @IsDefined()
  @IsString()
  @MaxLength(256)
  @Meaning('A task type of an extension')
  type: string;

  @IsDefined()
  @IsObject()
  @Meaning('What the type asks for', { ...mapOf(anything('Fields of the type')) })
  input: Record<string, unknown>;

  @IsOptional()
  @IsIn(ON_RESTART_POLICIES)
  @Meaning('What becomes of it at a restart of the service; absent: as the type says, `fail` unless it says otherwise')
  on_restart?: OnRestart | null;

  @IsOptional()
  @Equals(true, { ...UNSUPPORTED_VALUE, message: '$property must be true: these tasks run in the background' })
  @Meaning('Nothing else is possible here', nullable(boolean()))
  background?: boolean | null;

  /** Up to 16 texts, checked in `metadata.ts`. */
  @IsOptional()
  @IsObject()
  @Meaning('Up to 16 texts of yours, kept with the task', nullable(mapOf(text())))
  metadata?: Record<string, unknown> | null;
}
