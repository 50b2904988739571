import { Controller, Get, Res } from '@nestjs/common';
import type { Response } from 'express';
import { Public } from '../clients/index.js';
import { UnitOfWork } from '../database/index.js';
import { DescribeRoute, Tag } from '../openapi/index.js';
import { PROBE } from './operations-schema.js';
import { ServiceObstacles } from './service-obstacles.js';

/** A unit of work that waited longer means that the writer is stuck (WIRE B2). */
const STUCK_MS = 30_000;

/** Liveness and readiness (OPERATE 5.1). Neither loads a model nor runs one: a lost runner is replaced, not a reason to restart. */
@Tag('Service')
@Controller()
export class HealthController {
  constructor(
    private readonly units: UnitOfWork,
    private readonly obstacles: ServiceObstacles,
  ) {}

  /** 503 only where a restart is right. */
  @Get('health')
  @Public()
  @DescribeRoute({
    id: 'health',
    summary: 'Tells whether the service has to be restarted',
    answers: {
      200: { description: 'It is alive', schema: PROBE },
      503: { description: 'It is stuck', schema: PROBE },
    },
  })
  health(@Res({ passthrough: true }) response: Response): { status: string; reason?: string } {
    const waited = this.units.oldestWaitMs();
    if (waited <= STUCK_MS) return { status: 'ok' };
    response.status(503);
    return { status: 'stuck', reason: `a unit of work has waited ${Math.round(waited / 1000)} s` };
  }

  /** 503 with the reason while new work had better go elsewhere. */
  @Get('ready')
  @Public()
  @DescribeRoute({
    id: 'ready',
    summary: 'Tells whether new work is welcome',
    answers: {
      200: { description: 'It is', schema: PROBE },
      503: { description: 'Not now, and why: recovering, storage_full, disk_low, stopping', schema: PROBE },
    },
  })
  async ready(@Res({ passthrough: true }) response: Response): Promise<{ status: string; reason?: string }> {
    const reason = await this.obstacles.first();
    if (reason === null) return { status: 'ready' };
    response.status(503);
    return { status: 'not_ready', reason };
  }
}
