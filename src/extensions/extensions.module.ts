import { Module, type DynamicModule, type ModuleMetadata } from '@nestjs/common';
import type { Extension } from '../extension.js';
import { extensionModule } from './extension-module.js';
import { EXTENSIONS, ExtensionParts } from './extension-parts.js';
import { LoadedExtensions } from './loaded-extensions.js';

export interface ExtensionsModuleOptions {
  extensions: readonly Extension[];
  /** The modules of the service that extensions may use, and that this one puts their parts into. */
  imports: NonNullable<ModuleMetadata['imports']>;
  /** Where settings of extensions are read from; the process by default. */
  env?: Readonly<Record<string, string | undefined>>;
}

/** The modules of all extensions, above those of the service. */
@Module({})
export class ExtensionsModule {
  static register({ extensions, imports, env }: ExtensionsModuleOptions): DynamicModule {
    return {
      module: ExtensionsModule,
      imports: [...imports, ...extensions.map((extension) => extensionModule(extension, imports, env))],
      providers: [{ provide: EXTENSIONS, useValue: extensions }, ExtensionParts, LoadedExtensions],
      exports: [LoadedExtensions],
    };
  }
}
