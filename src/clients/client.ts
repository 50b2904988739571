import type { Scope } from './scopes.js';

/** Who sends a request. */
export interface Client {
  /** `cli_…` */
  id: string;
  name: string;
  scopes: readonly Scope[];
  /** The owner's own client, made at the first start: holds every scope. */
  owner: boolean;
}
