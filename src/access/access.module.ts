import { Module, type DynamicModule, type ModuleMetadata } from '@nestjs/common';
import { ConfigModule } from '../config/index.js';
import { HttpModule } from '../http/index.js';
import { ClientsController } from './clients.controller.js';
import { OAuthController } from './oauth.controller.js';
import { PairPageController } from './pair-page.controller.js';
import { PairingsController } from './pairings.controller.js';
import { RotationRepeats } from './rotation-repeats.js';
import { WrongCodes } from './wrong-codes.js';

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
      imports: [ConfigModule, HttpModule, ...imports],
      controllers: [ClientsController, OAuthController, PairingsController, PairPageController],
      providers: [RotationRepeats, WrongCodes],
    };
  }
}
