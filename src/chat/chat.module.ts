import { Module, type DynamicModule, type ModuleMetadata } from '@nestjs/common';
import { ConfigModule } from '../config/index.js';
import { HttpModule } from '../http/index.js';
import { CompletionAnswers } from './completion-answers.js';
import { CompletionRequests } from './completion-requests.js';
import { CompletionsController } from './completions.controller.js';
import { TokensController } from './tokens.controller.js';

export interface ChatModuleOptions {
  /** The modules that give the client guard's needs, the prompt codec, models and responses. */
  imports: NonNullable<ModuleMetadata['imports']>;
}

/** The endpoints that programs of before the Responses API call. Keeps nothing. */
@Module({})
export class ChatModule {
  static register({ imports }: ChatModuleOptions): DynamicModule {
    return {
      module: ChatModule,
      imports: [ConfigModule, HttpModule, ...imports],
      controllers: [CompletionsController, TokensController],
      providers: [CompletionAnswers, CompletionRequests],
    };
  }
}
