import { newIdentifier, type StoreReader, type Tx } from '../database/index.js';
import { hashOf, hintOf, newAccessToken } from './access-token.js';
import { scopesFromJson } from './grants.js';
import { knownScopes, type Scope } from './scopes.js';

/** A client as the owner sees it. Times are epoch milliseconds. */
export interface ClientRecord {
  id: string;
  name: string;
  owner: boolean;
  scopes: readonly Scope[];
  /** First 9 and last 4 characters of its token; null once revoked. */
  tokenHint: string | null;
  createdAt: number;
  lastUsedAt: number | null;
  expiresAt: number | null;
  revokedAt: number | null;
}

export interface ClientRow {
  id: string;
  name: string;
  owner: number;
  scopes: string;
  token_hash: string | null;
  token_hint: string | null;
  former_token_hash: string | null;
  former_expires_at: number | null;
  former_ends_on_use: number | null;
  created_at: number;
  last_used_at: number | null;
  expires_at: number | null;
  revoked_at: number | null;
  authority: string | null;
  subject: string | null;
}

export interface ClientDraft {
  name: string;
  scopes: readonly Scope[];
  /** Seconds that its token is good for; null: until it is revoked. */
  lifeSeconds: number | null;
  /** Id of the client that lets it in. */
  createdBy?: string | null;
}

/** A client and its token, which is nowhere but here. */
export interface IssuedToken {
  client: ClientRecord;
  token: string;
}

/** A new client. The caller answers for the scopes, and hands the token on: the store keeps its hash. */
export async function createClient(tx: Tx, draft: ClientDraft): Promise<IssuedToken> {
  const token = newAccessToken();
  const id = newIdentifier('cli');
  const now = Date.now();
  await tx.execute(
    `INSERT INTO clients (id, name, owner, scopes, token_hash, token_hint, created_at, expires_at, created_by)
     VALUES (?, ?, 0, ?, ?, ?, ?, ?, ?)`,
    [
      id,
      draft.name,
      JSON.stringify(draft.scopes),
      hashOf(token),
      hintOf(token),
      now,
      draft.lifeSeconds === null ? null : now + draft.lifeSeconds * 1000,
      draft.createdBy ?? null,
    ],
  );
  return { client: recordOf((await findClientRow(tx, id))!), token };
}

export async function findClientRow(from: Pick<StoreReader, 'query'> | Tx, id: string): Promise<ClientRow | null> {
  const [row] = await from.query<ClientRow>('select * from clients where id = ?', [id]);
  return row ?? null;
}

export function recordOf(row: ClientRow): ClientRecord {
  const owner = row.owner === 1;
  return {
    id: row.id,
    name: row.name,
    owner,
    // The owner also holds the scopes that came after its row was written.
    scopes: owner ? knownScopes() : scopesFromJson(row.scopes),
    tokenHint: row.token_hint,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
  };
}
