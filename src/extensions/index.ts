export { checkExtensions } from './check-extensions.js';
export { claimsOfService, declaredBy, migrationsOf } from './claims.js';
export { EXTENSION_SETTINGS } from './extension-module.js';
export { ExtensionsModule, type ExtensionsModuleOptions } from './extensions.module.js';
export { LoadedExtensions } from './loaded-extensions.js';
export { loadExtensions } from './load-extensions.js';
