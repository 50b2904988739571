import { CONFIG_TABLE, variableOf, type ConfigName } from './config-table.js';
import { loadConfig } from './load-config.js';

/** A setting as it takes effect. */
export interface DescribedSetting {
  /** Its variable. */
  key: string;
  value: unknown;
  origin: 'environment' | 'default';
}

/** Every setting with its value and where that comes from. Throws ConfigInvalid. */
export function describeSettings(env: Readonly<Record<string, string | undefined>> = process.env): DescribedSetting[] {
  const config = loadConfig(env);
  return (Object.keys(CONFIG_TABLE) as ConfigName[]).map((name) => {
    const key = variableOf(name);
    const isSet = (env[key]?.trim() ?? '') !== '';
    return { key, value: config[name], origin: isSet ? 'environment' : 'default' };
  });
}
