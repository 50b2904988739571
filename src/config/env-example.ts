import { CONFIG_TABLE, variableOf, type ConfigName } from './config-table.js';
import type { Setting } from './setting.js';

const HEAD = [
  '# Every setting of the service with its default. All are optional; an empty value counts as absent.',
  '# The service reads its environment, not this file.',
];

/** The text of `.env.example`: each variable, its default, one line of meaning. A test keeps the file equal to it. */
export function renderEnvExample(): string {
  const blocks = (Object.keys(CONFIG_TABLE) as ConfigName[]).map(renderSetting);
  return [...HEAD, '', ...blocks].join('\n');
}

function renderSetting(name: ConfigName): string {
  const setting: Setting<unknown> = CONFIG_TABLE[name];
  const shown = setting.fallbackText === undefined ? String(setting.fallback()) : '';
  const note = setting.fallbackText === undefined ? '' : ` Default: ${setting.fallbackText}.`;
  return `# ${setting.meaning}${note}\n# ${variableOf(name)}=${shown}\n`;
}
