import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { routePatterns } from '../../http/index.js';
import { TaskHandlers } from '../../tasks/index.js';
import { EngineReadings } from './engine-readings.js';
import { LabelValues } from './label-values.js';
import { ServiceReadings } from './service-readings.js';

/** Fills the registries of label values once everything has registered, before the port opens. */
@Injectable()
export class ClosedSets implements OnApplicationBootstrap {
  constructor(
    private readonly values: LabelValues,
    private readonly engine: EngineReadings,
    private readonly handlers: TaskHandlers,
    private readonly adapter: HttpAdapterHost,
    private readonly service: ServiceReadings,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    this.values.register('build', Object.values(this.service.build));
    this.values.register('route', routePatterns(this.adapter.httpAdapter.getInstance()));
    this.values.register('type', this.handlers.types());
    await this.engine.take();
  }
}
