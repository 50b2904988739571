import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../config/index.js';
import { ModelAdoption } from '../models/index.js';
import { Notices } from '../notices/index.js';
import { Bandwidth } from './bandwidth.js';
import { FileThreads } from './file-threads.js';
import type { ModelSource } from './model-source.js';
import { ModelSources } from './model-sources.js';

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
    private readonly sources: ModelSources,
  ) {
    this.bandwidth = new Bandwidth(config.pullBytesPerSecond);
  }

  /** For one pull. */
  source(): ModelSource {
    return this.sources.open();
  }
}
