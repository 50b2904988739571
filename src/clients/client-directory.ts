import { timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { StoreReader, UnitOfWork } from '../database/index.js';
import { hashOf, isWellFormed } from './access-token.js';
import type { Client } from './client.js';
import { invalidApiKey, missingApiKey, tokenExpired } from './clients.errors.js';
import { SCOPES, type Scope } from './scopes.js';

/** `last_used_at` is as coarse as this, so that reading costs no write. */
const LAST_USED_STEP_MS = 60_000;

interface ClientRow {
  id: string;
  name: string;
  owner: number;
  scopes: string;
  token_hash: string;
  last_used_at: number | null;
  expires_at: number | null;
}

/** Who may use this service: turns the token of a request into its client. */
@Injectable()
export class ClientDirectory {
  /** Client → time of the last write of `last_used_at`, also where its commit is still to come. */
  private readonly noted = new Map<string, number>();

  constructor(
    private readonly reader: StoreReader,
    private readonly units: UnitOfWork,
  ) {}

  /**
   * @param authorization value of the Authorization header
   * @returns its client; throws missing_api_key, invalid_api_key or token_expired
   */
  async authenticate(authorization: string | undefined): Promise<Client> {
    const token = bearerToken(authorization);
    if (token === null) throw missingApiKey();
    const row = isWellFormed(token) ? await this.find(hashOf(token)) : null;
    if (row === null) throw invalidApiKey();
    const now = Date.now();
    if (row.expires_at !== null && row.expires_at <= now) throw tokenExpired();
    this.noteUse(row, now);
    const owner = row.owner === 1;
    // The owner also holds the scopes that came after its row was written.
    const scopes = owner ? SCOPES : (JSON.parse(row.scopes) as Scope[]);
    return { id: row.id, name: row.name, scopes, owner };
  }

  private async find(hash: string): Promise<ClientRow | null> {
    const [row] = await this.reader.query<ClientRow>(
      `SELECT id, name, owner, scopes, token_hash, last_used_at, expires_at FROM clients
       WHERE token_hash = ? AND revoked_at IS NULL`,
      [hash],
    );
    return row && timingSafeEqual(Buffer.from(row.token_hash), Buffer.from(hash)) ? row : null;
  }

  private noteUse({ id, last_used_at: stored }: ClientRow, now: number): void {
    if (now - Math.max(stored ?? 0, this.noted.get(id) ?? 0) < LAST_USED_STEP_MS) return;
    this.noted.set(id, now);
    const written = this.units.run((tx) => tx.execute('UPDATE clients SET last_used_at = ? WHERE id = ?', [now, id]));
    // No request fails for the want of it: a locked, full or closing store skips this minute.
    written.catch(() => undefined);
  }
}

/** The scheme's name is case-insensitive (RFC 7235); null where the header is absent or of another scheme. */
function bearerToken(authorization: string | undefined): string | null {
  return /^bearer +(\S.*)$/i.exec(authorization ?? '')?.[1]?.trimEnd() ?? null;
}
