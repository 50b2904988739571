import { Module, type DynamicModule, type ModuleMetadata } from '@nestjs/common';
import { ConfigModule } from '../config/index.js';
import { HttpModule } from '../http/index.js';
import { EmbeddingsController } from './embeddings.controller.js';
import { Encoders } from './encoders.js';

export interface EmbeddingsModuleOptions {
  /** The modules that give the client guard's needs and models. */
  imports: NonNullable<ModuleMetadata['imports']>;
}

/** Vectors and scores of texts. Keeps nothing. */
@Module({})
export class EmbeddingsModule {
  static register({ imports }: EmbeddingsModuleOptions): DynamicModule {
    return {
      module: EmbeddingsModule,
      imports: [ConfigModule, HttpModule, ...imports],
      controllers: [EmbeddingsController],
      providers: [Encoders],
    };
  }
}
