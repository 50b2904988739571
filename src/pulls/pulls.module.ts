import { Module, type DynamicModule, type ModuleMetadata } from '@nestjs/common';
import { ConfigModule } from '../config/index.js';
import { HttpModule } from '../http/index.js';
import { NoticesModule } from '../notices/index.js';
import { FileThreads } from './file-threads.js';
import { HubAccess } from './hub-access.js';
import { ModelSources } from './model-sources.js';
import { PullAcceptance } from './pull-acceptance.js';
import { PullHandler } from './pull-handler.js';
import { PullLeftovers } from './pull-leftovers.js';
import { PullRequests } from './pull-requests.js';
import { PullTools } from './pull-tools.js';
import { PullsController } from './pulls.controller.js';

export interface PullsModuleOptions {
  /** The modules that give the store, the record of who did what, the client guard's needs, models and tasks. */
  imports: NonNullable<ModuleMetadata['imports']>;
  /** Compiled entry of the thread that hashes files; beside this file by default. */
  fileWorkerEntry?: URL | string;
}

/** Fetches models from a hub; registers its task type with the tasks module. */
@Module({})
export class PullsModule {
  static register({ imports, fileWorkerEntry }: PullsModuleOptions): DynamicModule {
    return {
      module: PullsModule,
      imports: [ConfigModule, HttpModule, NoticesModule, ...imports],
      controllers: [PullsController],
      providers: [
        { provide: FileThreads, useFactory: () => new FileThreads(fileWorkerEntry) },
        HubAccess,
        ModelSources,
        PullAcceptance,
        PullHandler,
        PullLeftovers,
        PullRequests,
        PullTools,
      ],
      exports: [ModelSources],
    };
  }
}
