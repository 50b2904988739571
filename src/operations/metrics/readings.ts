import { Injectable } from '@nestjs/common';
import { EngineReadings, type EngineReading } from './engine-readings.js';
import { ServiceReadings, type ServiceReading } from './service-readings.js';
import { StoreReadings, type StoreReading } from './store-readings.js';
import { TaskReadings, type TaskReading } from './task-readings.js';

/** What gauges show: read anew at each scrape, by bounded indexed reads only. */
export interface Readings {
  service: ServiceReading;
  tasks: TaskReading;
  engine: EngineReading;
  store: StoreReading;
}

@Injectable()
export class ReadingsTaker {
  constructor(
    private readonly service: ServiceReadings,
    private readonly tasks: TaskReadings,
    private readonly engine: EngineReadings,
    private readonly store: StoreReadings,
  ) {}

  async take(): Promise<Readings> {
    const [service, tasks, engine, store] = await Promise.all([
      this.service.take(),
      this.tasks.take(),
      this.engine.take(),
      this.store.take(),
    ]);
    return { service, tasks, engine, store };
  }
}
