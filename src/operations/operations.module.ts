import {
  Module,
  type DynamicModule,
  type MiddlewareConsumer,
  type ModuleMetadata,
  type NestModule,
} from '@nestjs/common';
import { ConfigModule } from '../config/index.js';
import { UnitOfWork } from '../database/index.js';
import { HttpModule } from '../http/index.js';
import { NoticesModule } from '../notices/index.js';
import { AuditController } from './audit.controller.js';
import { HealthController } from './health.controller.js';
import { ClosedSets } from './metrics/closed-sets.js';
import { LabelValues } from './metrics/label-values.js';
import { MetricsListener } from './metrics/metrics-listener.js';
import { MetricsController } from './metrics/metrics.controller.js';
import { Metrics } from './metrics/metrics.js';
import { EngineReadings } from './metrics/engine-readings.js';
import { QueueTally } from './metrics/queue-tally.js';
import { ReadingsTaker } from './metrics/readings.js';
import { ServiceReadings } from './metrics/service-readings.js';
import { StoreReadings } from './metrics/store-readings.js';
import { TaskReadings } from './metrics/task-readings.js';
import { ReadinessGate } from './readiness-gate.js';
import { Readiness } from './readiness.js';
import { RetentionController } from './retention.controller.js';
import { loadServiceIdentity, SERVICE_IDENTITY } from './service-identity.js';
import { ServiceObstacles } from './service-obstacles.js';
import { StoreNotices } from './store-notices.js';
import { ServiceController } from './service.controller.js';
import { StopSwitch } from './stop-switch.js';
import { StopController } from './stop.controller.js';
import { StoreCare } from './store-care.js';

export interface OperationsModuleOptions {
  /** The modules that give the store, INFERENCE_ENGINE, ModelCatalogue, TaskQueries and the client guard's needs. */
  imports: NonNullable<ModuleMetadata['imports']>;
}

/** Health, readiness, metrics and service info; keeps every other route shut until recovery has ended. */
@Module({})
export class OperationsModule implements NestModule {
  static register({ imports }: OperationsModuleOptions): DynamicModule {
    return {
      module: OperationsModule,
      imports: [ConfigModule, HttpModule, NoticesModule, ...imports],
      controllers: [
        AuditController,
        HealthController,
        MetricsController,
        RetentionController,
        ServiceController,
        StopController,
      ],
      providers: [
        Readiness,
        ReadinessGate,
        StoreCare,
        ServiceObstacles,
        LabelValues,
        QueueTally,
        TaskReadings,
        ServiceReadings,
        EngineReadings,
        StoreReadings,
        ReadingsTaker,
        StopSwitch,
        StoreNotices,
        Metrics,
        ClosedSets,
        MetricsListener,
        { provide: SERVICE_IDENTITY, inject: [UnitOfWork], useFactory: loadServiceIdentity },
      ],
      exports: [MetricsListener, Readiness, SERVICE_IDENTITY, StopSwitch, StoreCare],
    };
  }

  configure(consumer: MiddlewareConsumer): void {
    consumer.apply(ReadinessGate).forRoutes('{*path}');
  }
}
