import { checkRelations } from './config-relations.js';
import { CONFIG_TABLE, FOREIGN_KEYS, variableOf, type Config, type ConfigName } from './config-table.js';
import { ConfigInvalid, type ConfigProblem } from './config.errors.js';
import { declaredVariables, EXTENSION_PREFIX, readDeclared, type DeclaredSettings } from './extension-settings.js';
import { nearestName } from './nearest-name.js';
import { readSetting, type Environment } from './read-setting.js';
import type { Setting } from './setting.js';

const NAMES = Object.keys(CONFIG_TABLE) as ConfigName[];
const KNOWN_KEYS: readonly string[] = [...NAMES.map(variableOf), ...FOREIGN_KEYS];

/**
 * Reads the settings out of an environment, that of the process by default. An empty variable counts as absent.
 * Throws ConfigInvalid with every problem at once, those of `declared` included.
 * @param declared settings of the loaded extensions; null: theirs are none of this caller's business
 */
export function loadConfig(
  env: Environment = process.env,
  declared: readonly DeclaredSettings[] | null = null,
): Config {
  const problems = unknownKeys(env, declared);
  const values: Record<string, unknown> = {};
  for (const name of NAMES) {
    const setting: Setting<unknown> = CONFIG_TABLE[name];
    values[name] = readSetting(variableOf(name), setting, env, problems);
  }
  for (const each of declared ?? []) readDeclared(each, env, problems);
  // Every name of the table was filled in just above.
  const config = Object.freeze(values) as Config;
  problems.push(...checkRelations(config));
  if (problems.length > 0) throw new ConfigInvalid(problems);
  return config;
}

/** What must be known before the rest can be: which extensions declare further settings. */
export function extensionNames(env: Environment = process.env): readonly string[] {
  const problems: ConfigProblem[] = [];
  const names = readSetting(variableOf('extensions'), CONFIG_TABLE.extensions, env, problems);
  if (problems.length > 0) throw new ConfigInvalid(problems);
  return names;
}

function unknownKeys(env: Environment, declared: readonly DeclaredSettings[] | null): ConfigProblem[] {
  const known = [...KNOWN_KEYS, ...declaredVariables(declared ?? [])];
  return Object.keys(env)
    .filter((key) => key.startsWith('LMSP_') && !known.includes(key))
    .filter((key) => declared !== null || !key.startsWith(EXTENSION_PREFIX))
    .map((key) => {
      const near = nearestName(key, known);
      return { key, expected: near === null ? 'a known name' : `a known name, perhaps ${near}`, value: null };
    });
}
