import { Inject, Injectable } from '@nestjs/common';
import { serviceVersion } from '../../config/index.js';
import { EventStreams, type StreamKind } from '../../http/index.js';
import { INFERENCE_ENGINE, type InferenceEngine } from '../../inference/index.js';
import { ServiceObstacles } from '../service-obstacles.js';
import { LabelValues } from './label-values.js';

export interface ServiceReading {
  ready: boolean;
  build: { version: string; node: string; engine: string };
  /** Open event streams. */
  streams: Record<StreamKind, number>;
}

@Injectable()
export class ServiceReadings {
  private readonly build: ServiceReading['build'];

  constructor(
    private readonly obstacles: ServiceObstacles,
    private readonly streams: EventStreams,
    @Inject(INFERENCE_ENGINE) engine: InferenceEngine,
    labels: LabelValues,
  ) {
    this.build = { version: serviceVersion(), node: process.version, engine: engine.name };
    labels.register('build', Object.values(this.build));
  }

  async take(): Promise<ServiceReading> {
    const ready = (await this.obstacles.first()) === null;
    return { ready, build: this.build, streams: this.streams.counts() };
  }
}
