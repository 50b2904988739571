import { statfs } from 'node:fs/promises';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../config/index.js';
import { UnitOfWork } from '../database/index.js';
import { Readiness } from './readiness.js';

/** What keeps the service from taking work (OPERATE 5.1, /ready). */
@Injectable()
export class ServiceObstacles {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly readiness: Readiness,
    private readonly units: UnitOfWork,
  ) {}

  /** The first obstacle as a reason of WIRE B2; null: none. */
  async first(): Promise<string | null> {
    return this.readiness.obstacle ?? this.store() ?? (await this.disk());
  }

  /** The last commit decides; there is one each minute at least. */
  private store(): string | null {
    const fault = this.units.lastFault;
    return fault === null ? null : `storage_${fault}`;
  }

  private async disk(): Promise<string | null> {
    try {
      const { bavail, bsize } = await statfs(this.config.dataDir);
      return bavail * bsize < this.config.diskFloorBytes ? 'disk_low' : null;
    } catch {
      return 'data_directory_unreachable';
    }
  }
}
