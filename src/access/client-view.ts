import type { ClientRecord, IssuedToken } from '../clients/index.js';

/** The Client of WIRE B2. Times are unix seconds. */
export interface ClientObject {
  id: string;
  object: 'client';
  name: string;
  scopes: readonly string[];
  token_hint: string | null;
  created_at: number;
  last_used_at: number | null;
  expires_at: number | null;
  revoked_at: number | null;
}

export function clientToWire(record: ClientRecord): ClientObject {
  return {
    id: record.id,
    object: 'client',
    name: record.name,
    scopes: record.scopes,
    token_hint: record.tokenHint,
    created_at: seconds(record.createdAt),
    last_used_at: secondsOrNull(record.lastUsedAt),
    expires_at: secondsOrNull(record.expiresAt),
    revoked_at: secondsOrNull(record.revokedAt),
  };
}

/** The one answer that has the token. */
export function issuedToWire({ client, token }: IssuedToken): ClientObject & { token: string } {
  return { ...clientToWire(client), token };
}

export function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}

function secondsOrNull(milliseconds: number | null): number | null {
  return milliseconds === null ? null : seconds(milliseconds);
}
