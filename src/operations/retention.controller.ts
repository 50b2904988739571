import { Body, Controller, Get, HttpCode, Post } from '@nestjs/common';
import { AuditLog, RequestOrigin, type Origin } from '../audit/index.js';
import { RequireScope } from '../clients/index.js';
import { UnitOfWork } from '../database/index.js';
import { bodyOf } from '../http/index.js';
import { DescribeRoute, Tag } from '../openapi/index.js';
import { RetentionReports, RetentionRunner, RetentionSchedule } from '../retention/index.js';
import { RETENTION, RETENTION_RUN } from './operations-schema.js';
import { RetentionRunDto } from './retention-run.dto.js';
import {
  dryRunToWire,
  retentionToWire,
  runToWire,
  type RetentionObject,
  type RetentionRunObject,
} from './retention-view.js';

/** What is kept, for how long, and what goes now (WIRE B2, OPERATE 5.7). Counts of every client, contents of none. */
@Tag('Service')
@Controller('v1/service/retention')
export class RetentionController {
  constructor(
    private readonly reports: RetentionReports,
    private readonly runner: RetentionRunner,
    private readonly schedule: RetentionSchedule,
    private readonly units: UnitOfWork,
    private readonly audit: AuditLog,
  ) {}

  @Get()
  @RequireScope('operator:read')
  @DescribeRoute({
    id: 'getRetention',
    summary: 'Tells what is kept, for how long, and what is due to go',
    answers: { 200: { description: 'A report per kind', schema: RETENTION } },
  })
  async read(): Promise<RetentionObject> {
    return retentionToWire(await this.reports.make(), {
      running: this.runner.isRunning,
      nextRunAt: this.schedule.nextRunAt(),
      lastRun: this.runner.lastRun,
    });
  }

  /** Answers at the end of the run, which goes on when the client leaves. Throws retention_in_progress. */
  @Post('run')
  @HttpCode(200)
  @RequireScope('operator:manage')
  @DescribeRoute({
    id: 'runRetention',
    summary: 'Removes what is past its time, now',
    body: bodyOf(RetentionRunDto),
    bodyOptional: true,
    answers: { 200: { description: 'What was removed, or would be', schema: RETENTION_RUN } },
    errors: ['retention_in_progress', 'server_shutting_down'],
  })
  async run(
    @Body() { dry_run: dryRun }: RetentionRunDto,
    @RequestOrigin() origin: Origin,
  ): Promise<RetentionRunObject> {
    if (dryRun === true) return dryRunToWire(await this.reports.make(), Date.now());
    const run = await this.runner.run('operator');
    const removed = run.kinds.reduce((sum, kind) => sum + kind.removed, 0);
    await this.units.run((tx) =>
      this.audit.record(tx, { action: 'retention.run', object: null, origin, detail: { removed } }),
    );
    return runToWire(run);
  }
}
