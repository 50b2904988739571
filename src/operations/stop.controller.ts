import { Controller, HttpCode, Post, Res } from '@nestjs/common';
import type { Response } from 'express';
import { AuditLog, RequestOrigin, type Origin } from '../audit/index.js';
import { RequireScope } from '../clients/index.js';
import { UnitOfWork } from '../database/index.js';
import { constant, DescribeRoute, object, Tag } from '../openapi/index.js';
import { StopSwitch } from './stop-switch.js';

/** POST /v1/service/stop (WIRE B2): 202 once it is on record, then the clean stop. */
@Tag('Service')
@Controller('v1/service/stop')
export class StopController {
  constructor(
    private readonly units: UnitOfWork,
    private readonly audit: AuditLog,
    private readonly stop: StopSwitch,
  ) {}

  @Post()
  @HttpCode(202)
  @RequireScope('operator:manage')
  @DescribeRoute({
    id: 'stopService',
    summary: 'Stops the service cleanly: nothing accepted is lost',
    answers: {
      202: {
        description: 'It stops',
        schema: object({ object: constant('service.stop'), status: constant('stopping') }),
      },
    },
    errors: ['storage_busy', 'storage_full'],
  })
  async begin(
    @RequestOrigin() origin: Origin,
    @Res({ passthrough: true }) response: Response,
  ): Promise<{ object: 'service.stop'; status: 'stopping' }> {
    await this.units.run((tx) => this.audit.record(tx, { action: 'service.stop', object: null, origin }));
    // The answer first: the stop closes connections.
    response.once('close', () => this.stop.press());
    return { object: 'service.stop', status: 'stopping' };
  }
}
