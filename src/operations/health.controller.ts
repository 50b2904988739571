import { statfs } from 'node:fs/promises';
import { Controller, Get, Inject, Res } from '@nestjs/common';
import type { Response } from 'express';
import { Public } from '../clients/index.js';
import { CONFIG, type Config } from '../config/index.js';
import { UnitOfWork } from '../database/index.js';
import { Readiness } from './readiness.js';

/** A unit of work that waited longer means that the writer is stuck (WIRE B2). */
const STUCK_MS = 30_000;

/** Liveness and readiness (OPERATE 5.1). Neither loads a model nor runs one: a lost runner is replaced, not a reason to restart. */
@Controller()
export class HealthController {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly units: UnitOfWork,
    private readonly readiness: Readiness,
  ) {}

  /** 503 only where a restart is right. */
  @Get('health')
  @Public()
  health(@Res({ passthrough: true }) response: Response): { status: string; reason?: string } {
    const waited = this.units.oldestWaitMs();
    if (waited <= STUCK_MS) return { status: 'ok' };
    response.status(503);
    return { status: 'stuck', reason: `a unit of work has waited ${Math.round(waited / 1000)} s` };
  }

  /** 503 with the reason while new work had better go elsewhere. */
  @Get('ready')
  @Public()
  async ready(@Res({ passthrough: true }) response: Response): Promise<{ status: string; reason?: string }> {
    const reason = this.readiness.obstacle ?? (await this.diskObstacle());
    if (reason === null) return { status: 'ready' };
    response.status(503);
    return { status: 'not_ready', reason };
  }

  private async diskObstacle(): Promise<string | null> {
    try {
      const { bavail, bsize } = await statfs(this.config.dataDir);
      return bavail * bsize < this.config.diskFloorBytes ? 'disk_low' : null;
    } catch {
      return 'data_directory_unreachable';
    }
  }
}
