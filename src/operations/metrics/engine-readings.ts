import { Injectable } from '@nestjs/common';
import type { EngineActivity } from '../../inference/index.js';
import { ModelCatalogue, ModelResidency, type ModelObject } from '../../models/index.js';
import { LabelValues } from './label-values.js';

export interface EngineReading {
  /** Registered models by state, as GET /v1/models shows it. */
  models: Record<string, number>;
  /** Bytes that all loaded models may take, and that are put aside for those that are loaded or loading. */
  memory: { budget: number; reserved: number };
  loaded: { modelId: string; activity: EngineActivity }[];
}

@Injectable()
export class EngineReadings {
  constructor(
    private readonly catalogue: ModelCatalogue,
    private readonly residency: ModelResidency,
    private readonly labels: LabelValues,
  ) {}

  async take(): Promise<EngineReading> {
    const [records, loaded] = await Promise.all([this.catalogue.list(), this.residency.activities()]);
    // A model that was added since the last scrape.
    this.labels.register(
      'model',
      records.map(({ id }) => id),
    );
    const models: Record<string, number> = {};
    for (const { id, state } of records) {
      const shown: ModelObject['lmsp']['state'] = this.residency.runtime(id)?.state ?? state;
      models[shown] = (models[shown] ?? 0) + 1;
    }
    return { models, loaded, memory: this.residency.memoryFigures };
  }
}
