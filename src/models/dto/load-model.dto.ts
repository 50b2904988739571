import { Unsupported } from '../../http/index.js';
import { NameModelDto } from './name-model.dto.js';

/** Body of POST /v1/models/load. */
export class LoadModelDto extends NameModelDto {
  /** Models stay loaded until they are unloaded. */
  @Unsupported()
  keep_alive_seconds?: null;
}
