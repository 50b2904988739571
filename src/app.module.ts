import { Module, type DynamicModule } from '@nestjs/common';
import { MIGRATIONS } from '../migrations/index.js';
import { AccessModule } from './access/index.js';
import { AuditModule } from './audit/index.js';
import { ChatModule } from './chat/index.js';
import { addScopes, ClientsModule, type ScopeMeanings } from './clients/index.js';
import { ConfigModule, serviceVersion } from './config/index.js';
import { DatabaseModule } from './database/index.js';
import { EmbeddingsModule } from './embeddings/index.js';
import { ENTITIES } from './entities.js';
import type { Extension } from './extension.js';
import { checkExtensions, claimsOfService, ExtensionsModule, migrationsOf } from './extensions/index.js';
import { HttpModule } from './http/index.js';
import { AwaitedEngine, InferenceModule, type InferenceModuleOptions } from './inference/index.js';
import { ModelsModule } from './models/index.js';
import { NoticesModule } from './notices/index.js';
import { OperationsModule } from './operations/index.js';
import { PullsModule } from './pulls/index.js';
import { ResponsesModule } from './responses/index.js';
import { RetentionModule, type Clock } from './retention/index.js';
import { TasksModule } from './tasks/index.js';

/** What the application is made of beside the service itself; its engines may be replaced. */
export type AppOptions = InferenceModuleOptions & {
  extensions?: readonly Extension[];
  /** Where settings of extensions are read from; the process by default. */
  env?: Readonly<Record<string, string | undefined>>;
  /** By which things expire; those of the machine by default. */
  clock?: Clock;
  /** Compiled entry of the thread that hashes model files. */
  inspectionEntry?: URL | string;
  /** Compiled entry of the thread that hashes files of pulls. */
  fileWorkerEntry?: URL | string;
};

/** The one composition root: each module is built once and handed to those above it. */
@Module({})
export class AppModule {
  /** Throws StartRefused and ConfigInvalid for extensions that cannot be taken in; nothing has been opened then. */
  static register({ extensions = [], env, ...options }: AppOptions = {}): DynamicModule {
    const { clock, inspectionEntry, fileWorkerEntry, ...engines } = options;
    checkExtensions(extensions, claimsOfService(ENTITIES, MIGRATIONS), serviceVersion());
    addScopes(Object.assign({}, ...extensions.map(({ scopes }) => scopes)) as ScopeMeanings);
    const database = DatabaseModule.register({
      entities: [...ENTITIES, ...extensions.flatMap(({ entities = [] }) => entities)],
      migrations: MIGRATIONS,
      extensionMigrations: migrationsOf(extensions),
    });
    const retention = RetentionModule.register({ imports: [database], clock });
    const audit = AuditModule.register({ imports: [database, retention] });
    const clients = ClientsModule.register({ imports: [database, retention, audit] });
    const inference = InferenceModule.register({
      ...engines,
      ...(extensions.some(({ strategies }) => strategies?.inferenceEngine) && { engine: new AwaitedEngine() }),
    });
    const models = ModelsModule.register({ imports: [database, audit, clients, inference], inspectionEntry });
    const tasks = TasksModule.register({ imports: [database, retention, audit, clients] });
    const responses = ResponsesModule.register({ imports: [database, retention, clients, inference, models, tasks] });
    const pulls = PullsModule.register({ imports: [database, audit, clients, models, tasks], fileWorkerEntry });
    const embeddings = EmbeddingsModule.register({ imports: [clients, models] });
    const chat = ChatModule.register({ imports: [clients, inference, models, responses] });
    const access = AccessModule.register({ imports: [audit, clients, tasks] });
    const operations = OperationsModule.register({
      imports: [database, retention, audit, clients, inference, models, tasks],
    });
    const offered = [database, retention, audit, clients, models, tasks, responses, pulls];
    const imports = [ConfigModule, HttpModule, NoticesModule, inference, ...offered];
    return {
      module: AppModule,
      imports: [
        access,
        ConfigModule,
        NoticesModule,
        HttpModule,
        operations,
        retention,
        audit,
        clients,
        models,
        tasks,
        responses,
        chat,
        pulls,
        embeddings,
        ExtensionsModule.register({ extensions, imports, env }),
      ],
    };
  }
}
