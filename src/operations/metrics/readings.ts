import { Inject, Injectable } from '@nestjs/common';
import { serviceVersion } from '../../config/index.js';
import { EventStreams, type StreamKind } from '../../http/index.js';
import { INFERENCE_ENGINE, type InferenceEngine } from '../../inference/index.js';
import { TaskQueries, type Workload } from '../../tasks/index.js';
import { ServiceObstacles } from '../service-obstacles.js';

/** What gauges show: read anew at each scrape, by bounded indexed reads only. */
export interface Readings {
  ready: boolean;
  build: { version: string; node: string; engine: string };
  streams: Record<StreamKind, number>;
  tasks: Workload;
}

@Injectable()
export class ReadingsTaker {
  private readonly version = serviceVersion();

  constructor(
    private readonly obstacles: ServiceObstacles,
    private readonly streams: EventStreams,
    private readonly tasks: TaskQueries,
    @Inject(INFERENCE_ENGINE) private readonly engine: InferenceEngine,
  ) {}

  async take(): Promise<Readings> {
    const [obstacle, tasks] = await Promise.all([this.obstacles.first(), this.tasks.workload()]);
    return { ready: obstacle === null, build: this.build(), streams: this.streams.counts(), tasks };
  }

  build(): Readings['build'] {
    return { version: this.version, node: process.version, engine: this.engine.name };
  }
}
