import { statfs } from 'node:fs/promises';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../../config/index.js';
import { Store, type StoreSizes } from '../../database/index.js';

export interface StoreReading {
  writeQueue: number;
  sizes: StoreSizes;
  /** Of the data directory, bytes; null where it cannot be asked. */
  diskFree: number | null;
}

@Injectable()
export class StoreReadings {
  constructor(
    private readonly store: Store,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  async take(): Promise<StoreReading> {
    const writeQueue = this.store.units.queueLength;
    const [sizes, diskFree] = await Promise.all([this.store.sizes(), this.diskFree()]);
    return { writeQueue, sizes, diskFree };
  }

  private async diskFree(): Promise<number | null> {
    const found = await statfs(this.config.dataDir).catch(() => null);
    return found && found.bavail * found.bsize;
  }
}
