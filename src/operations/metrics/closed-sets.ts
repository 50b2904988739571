import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { routePatterns } from '../../http/index.js';
import { ModelCatalogue } from '../../models/index.js';
import { TaskHandlers } from '../../tasks/index.js';
import { LabelValues } from './label-values.js';
import { ReadingsTaker } from './readings.js';

/** Fills the registries of label values once everything has registered, before the port opens. */
@Injectable()
export class ClosedSets implements OnApplicationBootstrap {
  constructor(
    private readonly values: LabelValues,
    private readonly catalogue: ModelCatalogue,
    private readonly handlers: TaskHandlers,
    private readonly adapter: HttpAdapterHost,
    private readonly readings: ReadingsTaker,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    this.values.register('build', Object.values(this.readings.build()));
    this.values.register('route', routePatterns(this.adapter.httpAdapter.getInstance()));
    this.values.register('type', this.handlers.types());
    await this.registerModels();
  }

  /** Also for models that are added later. */
  async registerModels(): Promise<void> {
    const models = await this.catalogue.list();
    this.values.register(
      'model',
      models.map(({ id }) => id),
    );
  }
}
