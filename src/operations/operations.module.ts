import {
  Module,
  type DynamicModule,
  type MiddlewareConsumer,
  type ModuleMetadata,
  type NestModule,
} from '@nestjs/common';
import { ConfigModule } from '../config/index.js';
import { UnitOfWork } from '../database/index.js';
import { HealthController } from './health.controller.js';
import { ReadinessGate } from './readiness-gate.js';
import { Readiness } from './readiness.js';
import { loadServiceIdentity, SERVICE_IDENTITY } from './service-identity.js';
import { ServiceController } from './service.controller.js';

export interface OperationsModuleOptions {
  /** The modules that give UnitOfWork, ModelCatalogue and the client guard's needs. */
  imports: NonNullable<ModuleMetadata['imports']>;
}

/** Health, readiness and service info; keeps every other route shut until recovery has ended. */
@Module({})
export class OperationsModule implements NestModule {
  static register({ imports }: OperationsModuleOptions): DynamicModule {
    return {
      module: OperationsModule,
      imports: [ConfigModule, ...imports],
      controllers: [HealthController, ServiceController],
      providers: [
        Readiness,
        ReadinessGate,
        { provide: SERVICE_IDENTITY, inject: [UnitOfWork], useFactory: loadServiceIdentity },
      ],
      exports: [Readiness, SERVICE_IDENTITY],
    };
  }

  configure(consumer: MiddlewareConsumer): void {
    consumer.apply(ReadinessGate).forRoutes('{*path}');
  }
}
