import type { DynamicModule, ModuleMetadata, Type } from '@nestjs/common';
import { extensionSettings } from '../config/index.js';
import type { Extension } from '../extension.js';

/** Injection token of an extension's own settings: `@Inject(EXTENSION_SETTINGS) settings: SettingValues<typeof KEYS>`. */
export const EXTENSION_SETTINGS = Symbol('ExtensionSettings');

/**
 * The module of an extension as the application has it: what it says itself, the classes that its description names, its
 * settings, and access to the service. Throws ConfigInvalid where a setting of it is unsound.
 * @param imports modules of the service that its providers may inject from
 * @param env that of the process by default
 */
export function extensionModule(
  extension: Extension,
  imports: NonNullable<ModuleMetadata['imports']>,
  env?: Readonly<Record<string, string | undefined>>,
): DynamicModule {
  const { name, configKeys = {} } = extension;
  const own = moduleOf(extension);
  const settings = extensionSettings({ extension: name, settings: configKeys }, env);
  return {
    ...own,
    imports: [...(own.imports ?? []), ...imports],
    providers: [...(own.providers ?? []), ...partsOf(extension), { provide: EXTENSION_SETTINGS, useValue: settings }],
  };
}

/** The class of the extension's module, by which the application knows it. */
export function moduleClassOf(extension: Extension): Type {
  return moduleOf(extension).module;
}

function moduleOf({ module }: Extension): DynamicModule {
  return 'module' in module ? module : { module };
}

/** Each class once, whatever it does. */
function partsOf(extension: Extension): Type[] {
  const { strategies = {}, taskTypes = [], recorders = [], listeners = [], retentionRules = [] } = extension;
  const chosen = Object.values(strategies as Record<string, Type | undefined>).filter((part) => part !== undefined);
  return [...new Set<Type>([...chosen, ...taskTypes, ...recorders, ...listeners, ...retentionRules])];
}
