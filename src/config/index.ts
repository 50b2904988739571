export { CONFIG, ConfigModule, withConfig } from './config.module.js';
export { LOG_LEVELS, RESTART_POLICIES, type Config } from './config-table.js';
export { configWarnings } from './config-warnings.js';
export { describeSettings, type DescribedSetting } from './describe-settings.js';
export { ConfigInvalid, type ConfigProblem } from './config.errors.js';
export {
  extensionNameRule,
  extensionSettings,
  extensionVariable,
  isExtensionName,
  type DeclaredSettings,
  type SettingTable,
  type SettingValues,
} from './extension-settings.js';
export { isLoopback, parseHost } from './host-names.js';
export { extensionNames, loadConfig } from './load-config.js';
export { packageRoot, serviceVersion } from './package-file.js';
export { libraryEnvironment } from './library-environment.js';
export {
  cron,
  flag,
  foundAtStart,
  listOf,
  oneOf,
  optionalFile,
  secret,
  serviceAddress,
  whole,
  type Setting,
} from './setting.js';
