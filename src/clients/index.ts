export { AccessRefusals } from './access-refusals.js';
export { AnyClient, CurrentClient, Public, RequireScope, RequireScopeOrOwn, type Access } from './access.decorators.js';
export { Authentication } from './authentication.js';
export type { Authenticator, Credentials, Identity } from './authenticator.js';
export { ClientDirectory } from './client-directory.js';
export { createClient, type ClientDraft, type ClientRecord, type IssuedToken } from './client-record.js';
export { ClientRegistry, type ClientChange, type ClientPageRequest } from './client-registry.js';
export { ClientRevocation } from './client-revocation.js';
export type { Client } from './client.js';
export { InsufficientScope } from './clients.errors.js';
export { ClientsModule, type ClientsModuleOptions } from './clients.module.js';
export { DeviceGrant } from './device-grant.js';
export { DEFAULT_SCOPES } from './grants.js';
export { readUserCode } from './pairing-codes.js';
export { PAIRING_SECONDS, Pairings, POLL_SECONDS, type Approval } from './pairings.js';
export { PendingPairings, type PairingRecord } from './pending-pairings.js';
export { accessInWords, RouteAccesses, type RouteAccess } from './route-access.js';
export {
  addScopes,
  isScope,
  isScopeName,
  knownScopes,
  meaningsOf,
  SCOPES,
  type Scope,
  type ScopeMeanings,
} from './scopes.js';
export { TokenRotation } from './token-rotation.js';
