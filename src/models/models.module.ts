import { Inject, Module, type DynamicModule, type ModuleMetadata, type OnModuleInit } from '@nestjs/common';
import { ConfigModule } from '../config/index.js';
import { NoticesModule } from '../notices/index.js';
import { embeddedModels, type EmbeddedModel } from './embedded-models.js';
import { FolderInspector } from './folder-inspector.js';
import { GenerationDefaultsReader } from './generation-defaults.js';
import { ModelAdoption } from './model-adoption.js';
import { ModelCatalogue } from './model-catalogue.js';
import { ModelLoader } from './model-loader.js';
import { ModelRechecks } from './model-rechecks.js';
import { ModelResidency } from './model-residency.js';
import { ModelRegistry } from './model-registry.js';
import { ModelRegistryController } from './model-registry.controller.js';
import { ModelsController } from './models.controller.js';
import { MonotonicClock } from './monotonic-clock.js';

const EMBEDDED_MODELS = Symbol('EmbeddedModels');

export interface ModelsModuleOptions {
  /** The modules that give UnitOfWork and StoreReader, INFERENCE_ENGINE, and the client guard's needs. */
  imports: NonNullable<ModuleMetadata['imports']>;
  /** Folder of the embedded models; that of the package by default. */
  embeddedFolder?: string;
  /** Compiled entry of the thread that hashes model files; beside this file by default. */
  inspectionEntry?: URL | string;
}

/** The catalogue of models and what is loaded of it. Whoever stops the service calls ModelResidency.stop. */
@Module({})
export class ModelsModule implements OnModuleInit {
  constructor(
    private readonly catalogue: ModelCatalogue,
    private readonly residency: ModelResidency,
    private readonly registry: ModelRegistry,
    @Inject(EMBEDDED_MODELS) private readonly embedded: readonly EmbeddedModel[],
  ) {}

  static register({ imports, embeddedFolder, inspectionEntry }: ModelsModuleOptions): DynamicModule {
    return {
      module: ModelsModule,
      imports: [ConfigModule, NoticesModule, ...imports],
      controllers: [ModelsController, ModelRegistryController],
      providers: [
        { provide: EMBEDDED_MODELS, useFactory: () => embeddedModels(embeddedFolder) },
        { provide: FolderInspector, useFactory: () => new FolderInspector(inspectionEntry) },
        MonotonicClock,
        GenerationDefaultsReader,
        ModelAdoption,
        ModelCatalogue,
        ModelLoader,
        ModelRechecks,
        ModelRegistry,
        ModelResidency,
      ],
      exports: [GenerationDefaultsReader, ModelAdoption, ModelCatalogue, ModelRegistry, ModelResidency],
    };
  }

  /** The store is open and migrated by now, and no request is served yet. */
  async onModuleInit(): Promise<void> {
    await this.catalogue.seed(this.embedded);
    for (const { id, quarantinedAt } of await this.catalogue.list()) {
      if (quarantinedAt !== null) this.residency.quarantine(id);
    }
    await this.registry.resume();
  }
}
