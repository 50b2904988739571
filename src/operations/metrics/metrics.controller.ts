import { Controller, Get, Res } from '@nestjs/common';
import type { Response } from 'express';
import { RequireScope } from '../../clients/index.js';
import { DescribeRoute, Tag, text } from '../../openapi/index.js';
import { Metrics } from './metrics.js';

/** GET /metrics (WIRE B2): Prometheus reads it with a token of scope service:read (`credentials_file`). */
@Tag('Service')
@Controller('metrics')
export class MetricsController {
  constructor(private readonly metrics: Metrics) {}

  @Get()
  @RequireScope('service:read')
  @DescribeRoute({
    id: 'getMetrics',
    summary: 'Gives the figures of the service to Prometheus',
    answers: { 200: { description: 'Text format of Prometheus', schema: text(), contentType: 'text/plain' } },
  })
  async read(@Res() response: Response): Promise<void> {
    const text = await this.metrics.text();
    // Not response.json: what Prometheus reads is no JSON string.
    response.set('Content-Type', this.metrics.contentType).send(text);
  }
}
