import { InsufficientScope } from './clients.errors.js';
import { isScope, SCOPES, type Scope } from './scopes.js';

/** Offered where a program asks for nothing in particular (WIRE B1). */
export const DEFAULT_SCOPES: readonly Scope[] = [
  'models:read',
  'responses:read',
  'responses:write',
  'embeddings:write',
  'tasks:read',
  'tasks:cancel',
];

/** Granted only where whoever approves names them (WIRE B8), as are those of extensions. */
const PRIVILEGED: readonly Scope[] = [
  'models:manage',
  'clients:manage',
  'tasks:write',
  'operator:read',
  'operator:manage',
];

export function isPrivileged(scope: Scope): boolean {
  return PRIVILEGED.includes(scope) || !(SCOPES as readonly string[]).includes(scope);
}

/** Throws insufficient_scope where the holder lacks one of the scopes: nobody gives, takes or renews more than it has. */
export function requireWithin(holder: readonly Scope[], ...sets: (readonly Scope[])[]): void {
  const missing = sets.flat().find((scope) => !holder.includes(scope));
  if (missing !== undefined) throw new InsufficientScope(missing);
}

/** Scopes of a row: JSON that a later version may have written. */
export function scopesFromJson(json: string): Scope[] {
  return (JSON.parse(json) as string[]).filter(isScope);
}
