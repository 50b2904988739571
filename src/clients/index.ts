export { AnyClient, CurrentClient, Public, RequireScope, RequireScopeOrOwn, type Access } from './access.decorators.js';
export { ClientDirectory } from './client-directory.js';
export type { Client } from './client.js';
export { InsufficientScope } from './clients.errors.js';
export { ClientsModule, type ClientsModuleOptions } from './clients.module.js';
export { accessInWords, RouteAccesses, type RouteAccess } from './route-access.js';
export { SCOPES, type Scope } from './scopes.js';
