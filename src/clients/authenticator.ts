import type { Scope } from './scopes.js';

/** What a request shows of its sender. */
export interface Credentials {
  /** What follows `Bearer ` in the Authorization header; null where there is nothing of that kind. */
  readonly token: string | null;
  /** All headers of the request, their names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** IP address of the peer; that of a gateway, where one stands before the service. */
  readonly address: string | null;
}

/** Somebody whom an authenticator knows. */
export interface Identity {
  /** Stable and never given to another, 1 to 255 characters: `sub` of a token, for example. */
  readonly subject: string;
  /** What people call it, where that is another word. */
  readonly name?: string;
  /** What it may do with this request. Names that are no scope here are left out. */
  readonly scopes: readonly Scope[];
}

/**
 * Strategy: who sends a request, where the answer lies outside of this service (a gateway, an identity provider). Tokens
 * of the service (`lmsp_…`) stay valid beside it and are never shown to it. Each subject becomes a client of its own at its first
 * request: tasks, limits and the audit log know it by that id, and the owner can revoke it.
 */
export interface Authenticator {
  /**
   * Null: not of mine, and the request is answered as one without a valid token. Throw DomainError invalid_api_key or
   * token_expired to say more. Called for every request that carries no token of the service: keep keys and answers in memory.
   */
  authenticate(credentials: Credentials): Promise<Identity | null>;
}
