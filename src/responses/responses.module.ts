import { Module, type DynamicModule, type ModuleMetadata } from '@nestjs/common';
import { ConfigModule } from '../config/index.js';
import { HttpModule } from '../http/index.js';
import { NoticesModule } from '../notices/index.js';
import { Conversations } from './conversations.js';
import { CreateResponseController } from './create-response.controller.js';
import { EphemeralCreation } from './ephemeral-creation.js';
import { EphemeralResponses } from './ephemeral-responses.js';
import { ForegroundOwnership } from './foreground-ownership.js';
import { ForegroundResponses } from './foreground-responses.js';
import { InputTokensController } from './input-tokens.controller.js';
import { ModelAnswers } from './model-answers.js';
import { ModelUse } from './model-use.js';
import { ResponseAcceptance } from './response-acceptance.js';
import { ResponseAdmission } from './response-admission.js';
import { ResponseHandler } from './response-handler.js';
import { ResponsePrompts } from './response-prompts.js';
import { ResponseRepeats } from './response-repeats.js';
import { ResponseRetention } from './response-retention.js';
import { ResponseRequests } from './response-requests.js';
import { ResponseStore } from './response-store.js';
import { ResponseStreams } from './response-streams.js';
import { ResponsesController } from './responses.controller.js';
import { StoredCreation } from './stored-creation.js';
import { StoredResponses } from './stored-responses.js';
import { WorkAdmission } from './work-admission.js';

export interface ResponsesModuleOptions {
  /** The modules that give the store, the client guard's needs, the prompt codec, models and tasks. */
  imports: NonNullable<ModuleMetadata['imports']>;
}

/** Creates, runs and shows responses; registers its task type with the tasks module. */
@Module({})
export class ResponsesModule {
  static register({ imports }: ResponsesModuleOptions): DynamicModule {
    return {
      module: ResponsesModule,
      imports: [ConfigModule, HttpModule, NoticesModule, ...imports],
      // In this order: `input_tokens` is no id of a response.
      controllers: [CreateResponseController, InputTokensController, ResponsesController],
      providers: [
        Conversations,
        ResponseAcceptance,
        ResponseAdmission,
        ResponseHandler,
        ResponsePrompts,
        ResponseRepeats,
        ResponseRequests,
        ResponseRetention,
        ResponseStore,
        ResponseStreams,
        EphemeralCreation,
        EphemeralResponses,
        ForegroundOwnership,
        ForegroundResponses,
        ModelAnswers,
        ModelUse,
        StoredCreation,
        StoredResponses,
        WorkAdmission,
      ],
      exports: [EphemeralResponses, ModelAnswers, ResponseRequests, WorkAdmission],
    };
  }
}
