import { KeepAliveField } from '../keep-alive.js';
import { NameModelDto } from './name-model.dto.js';

/** Body of POST /v1/models/load. */
export class LoadModelDto extends NameModelDto {
  @KeepAliveField()
  keep_alive_seconds?: number | null;
}
