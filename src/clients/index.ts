export { CurrentClient, Public, RequireScope } from './access.decorators.js';
export { ClientDirectory } from './client-directory.js';
export type { Client } from './client.js';
export { InsufficientScope } from './clients.errors.js';
export { ClientsModule, type ClientsModuleOptions } from './clients.module.js';
export { SCOPES, type Scope } from './scopes.js';
