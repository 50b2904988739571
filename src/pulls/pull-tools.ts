import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../config/index.js';
import { ModelAdoption } from '../models/index.js';
import { Notices } from '../notices/index.js';
import { Bandwidth } from './bandwidth.js';
import { FileThreads } from './file-threads.js';
import { HubAccess } from './hub-access.js';
import type { HubClient } from './hub/hub-client.js';

const FIRST_PAUSE_MS = 500;

/** What every pull works with. */
@Injectable()
export class PullTools {
  /** One for all: the limit is of the service. */
  readonly bandwidth: Bandwidth;
  readonly firstPauseMs = FIRST_PAUSE_MS;

  constructor(
    @Inject(CONFIG) readonly config: Config,
    readonly adoption: ModelAdoption,
    readonly threads: FileThreads,
    readonly notices: Notices,
    private readonly access: HubAccess,
  ) {
    this.bandwidth = new Bandwidth(config.pullBytesPerSecond);
  }

  hub(): HubClient {
    return this.access.open();
  }
}
