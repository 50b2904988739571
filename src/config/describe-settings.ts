import { CONFIG_TABLE, variableOf, type ConfigName } from './config-table.js';
import { extensionSettings, extensionVariable, type DeclaredSettings } from './extension-settings.js';
import { loadConfig } from './load-config.js';
import type { Environment } from './read-setting.js';
import type { Setting } from './setting.js';

/** A setting as it takes effect. */
export interface DescribedSetting {
  /** Its variable. */
  key: string;
  value: unknown;
  origin: 'environment' | 'default';
}

/** Every setting with its value and where that comes from, those of extensions last. Throws ConfigInvalid. */
export function describeSettings(
  env: Environment = process.env,
  declared: readonly DeclaredSettings[] = [],
): DescribedSetting[] {
  const config = loadConfig(env, declared);
  const ours = (Object.keys(CONFIG_TABLE) as ConfigName[]).map((name) =>
    describe(variableOf(name), CONFIG_TABLE[name], config[name], env),
  );
  const theirs = declared.flatMap((each) => {
    const values = extensionSettings(each, env);
    return Object.entries(each.settings).map(([name, setting]) =>
      describe(extensionVariable(each.extension, name), setting, values[name], env),
    );
  });
  return [...ours, ...theirs];
}

function describe(key: string, setting: Setting<unknown>, value: unknown, env: Environment): DescribedSetting {
  const isSet = (env[key]?.trim() ?? '') !== '';
  return { key, value: setting.isSecret && isSet ? '(set)' : value, origin: isSet ? 'environment' : 'default' };
}
