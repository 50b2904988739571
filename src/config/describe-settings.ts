import { CONFIG_TABLE, variableOf, type ConfigName } from './config-table.js';
import { loadConfig } from './load-config.js';
import type { Setting } from './setting.js';

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
    const { isSecret }: Setting<unknown> = CONFIG_TABLE[name];
    const value = isSecret && isSet ? '(set)' : config[name];
    return { key, value, origin: isSet ? 'environment' : 'default' };
  });
}
