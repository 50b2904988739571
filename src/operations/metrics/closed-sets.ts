import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { routePatterns } from '../../http/index.js';
import { RetentionRules } from '../../retention/index.js';
import { TaskHandlers } from '../../tasks/index.js';
import { EngineReadings } from './engine-readings.js';
import { LabelValues } from './label-values.js';

/** Fills the registries of label values once everything has registered, before the port opens. */
@Injectable()
export class ClosedSets implements OnApplicationBootstrap {
  constructor(
    private readonly values: LabelValues,
    private readonly engine: EngineReadings,
    private readonly handlers: TaskHandlers,
    private readonly adapter: HttpAdapterHost,
    private readonly rules: RetentionRules,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    this.values.register('route', routePatterns(this.adapter.httpAdapter.getInstance()));
    this.values.register(
      'kind',
      this.rules.all().map(({ kind }) => kind),
    );
    this.values.register('type', this.handlers.types());
    await this.engine.take();
  }
}
