import { ConfigInvalid, type ConfigProblem } from './config.errors.js';
import { readSetting, type Environment } from './read-setting.js';
import type { Setting } from './setting.js';

/** What the variables of all extensions begin with. */
export const EXTENSION_PREFIX = 'LMSP_EXT_';

const EXTENSION_NAME = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/;
const LONGEST_NAME = 40;

/** In words. */
export const extensionNameRule = `words of a-z and 0-9 with hyphens between, ${LONGEST_NAME} characters at most`;

export function isExtensionName(name: string): boolean {
  return EXTENSION_NAME.test(name) && name.length <= LONGEST_NAME;
}

/** Settings by name: parser, default, meaning. */
export type SettingTable = Readonly<Record<string, Setting<unknown>>>;

/** What the settings of a table come to. */
export type SettingValues<T extends SettingTable> = {
  readonly [Name in keyof T]: T[Name] extends Setting<infer V> ? V : never;
};

/** The settings that one extension declares. */
export interface DeclaredSettings {
  /** Its name. */
  extension: string;
  settings: SettingTable;
}

/** `audit-sink`, `maxRows` → `LMSP_EXT_AUDIT_SINK_MAX_ROWS`. */
export function extensionVariable(extension: string, name: string): string {
  const snake = `${extension}_${name}`.replace(/[A-Z]/g, (letter) => `_${letter}`).replace(/[^A-Za-z0-9]+/g, '_');
  return `${EXTENSION_PREFIX}${snake.toUpperCase()}`;
}

/** Every variable that is declared, in order. */
export function declaredVariables(declared: readonly DeclaredSettings[]): string[] {
  return declared.flatMap(({ extension, settings }) =>
    Object.keys(settings).map((name) => extensionVariable(extension, name)),
  );
}

/** The settings of an extension as they are in this environment, that of the process by default. Throws ConfigInvalid. */
export function extensionSettings(
  declared: DeclaredSettings,
  env: Environment = process.env,
): SettingValues<SettingTable> {
  const problems: ConfigProblem[] = [];
  const values = readDeclared(declared, env, problems);
  if (problems.length > 0) throw new ConfigInvalid(problems);
  return values;
}

export function readDeclared(
  { extension, settings }: DeclaredSettings,
  env: Environment,
  problems: ConfigProblem[],
): SettingValues<SettingTable> {
  const values = Object.entries(settings).map(([name, setting]): [string, unknown] => {
    return [name, readSetting(extensionVariable(extension, name), setting, env, problems)];
  });
  return Object.freeze(Object.fromEntries(values));
}
