import { Module, type DynamicModule, type ModuleMetadata } from '@nestjs/common';
import { HttpModule } from '../http/index.js';
import { ClientsController } from './clients.controller.js';

export interface AccessModuleOptions {
  /** The modules that give clients and their guard's needs. */
  imports: NonNullable<ModuleMetadata['imports']>;
}

/** The routes of pairing and of clients: what `clients` decides, in HTTP. */
@Module({})
export class AccessModule {
  static register({ imports }: AccessModuleOptions): DynamicModule {
    return {
      module: AccessModule,
      imports: [HttpModule, ...imports],
      controllers: [ClientsController],
    };
  }
}
