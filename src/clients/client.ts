import type { Scope } from './scopes.js';

/** Who sends a request. */
export interface Client {
  /** `cli_…` */
  id: string;
  name: string;
  scopes: readonly Scope[];
  /** The owner's own client, made at the first start: holds every scope. */
  owner: boolean;
  /** SHA-256 of the token that was sent: a client may have two while it rotates. Null: it signs in elsewhere. */
  tokenHash: string | null;
}
