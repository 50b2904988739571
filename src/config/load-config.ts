import { checkRelations } from './config-relations.js';
import { CONFIG_TABLE, FOREIGN_KEYS, variableOf, type Config, type ConfigName } from './config-table.js';
import { ConfigInvalid, type ConfigProblem } from './config.errors.js';
import { nearestName } from './nearest-name.js';
import type { Setting } from './setting.js';

type Environment = Readonly<Record<string, string | undefined>>;

const NAMES = Object.keys(CONFIG_TABLE) as ConfigName[];
const KNOWN_KEYS: readonly string[] = [...NAMES.map(variableOf), ...FOREIGN_KEYS];

/**
 * Reads the settings out of an environment, that of the process by default. An empty variable counts as absent.
 * Throws ConfigInvalid with every problem at once.
 */
export function loadConfig(env: Environment = process.env): Config {
  const problems = unknownKeys(env);
  const values: Record<string, unknown> = {};
  for (const name of NAMES) {
    const setting: Setting<unknown> = CONFIG_TABLE[name];
    const key = variableOf(name);
    const text = env[key]?.trim() ?? '';
    values[name] = text === '' ? setting.fallback() : setting.parse(text);
    if (values[name] !== null) continue;
    problems.push({ key, expected: setting.expected, value: setting.isSecret ? null : withoutPassword(text) });
    // Stands in, so that the relations of the other settings are checked in the same pass.
    values[name] = setting.fallback();
  }
  // Every name of the table was filled in just above.
  const config = Object.freeze(values) as Config;
  problems.push(...checkRelations(config));
  if (problems.length > 0) throw new ConfigInvalid(problems);
  return config;
}

/** What stands before the @ of an address. */
function withoutPassword(text: string): string {
  return text.replace(/\/\/[^/]*@/, '//…@');
}

function unknownKeys(env: Environment): ConfigProblem[] {
  return Object.keys(env)
    .filter((key) => key.startsWith('LMSP_') && !KNOWN_KEYS.includes(key))
    .map((key) => {
      const near = nearestName(key, KNOWN_KEYS);
      return { key, expected: near === null ? 'a known name' : `a known name, perhaps ${near}`, value: null };
    });
}
