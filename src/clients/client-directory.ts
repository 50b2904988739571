import { timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { StoreReader, UnitOfWork } from '../database/index.js';
import { hashOf } from './access-token.js';
import { recordOf, type ClientRow } from './client-record.js';
import type { Client } from './client.js';
import { invalidApiKey, missingApiKey, tokenExpired } from './clients.errors.js';

/** `last_used_at` is as coarse as this, so that reading costs no write. */
const LAST_USED_STEP_MS = 60_000;

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
    // What cannot be a token is looked for all the same: no refusal is quicker than another (CASES BL-38).
    const hash = hashOf(token);
    const row = await findByToken(this.reader, hash);
    if (row === null) throw invalidApiKey();
    if (row.expires_at !== null && row.expires_at <= Date.now()) throw tokenExpired();
    if (row.former_ends_on_use === 1 && sameHash(row.token_hash, hash)) await this.endFormer(row.id, hash);
    this.noteUse(row);
    const { id, name, owner, scopes } = recordOf(row);
    return { id, name, scopes, owner, tokenHash: hash };
  }

  /** Which of these clients have been revoked, or are gone. */
  async revoked(from: Pick<StoreReader, 'query'>, clientIds: readonly string[]): Promise<Set<string>> {
    const live = await from.query<{ id: string }>(
      'select id from clients where revoked_at is null and id in (select value from json_each(?))',
      [JSON.stringify(clientIds)],
    );
    const known = new Set(live.map(({ id }) => id));
    return new Set(clientIds.filter((id) => !known.has(id)));
  }

  /** The new token of a client that rotated itself has arrived: from now on it is the only one (WIRE B8). */
  private async endFormer(id: string, hash: string): Promise<void> {
    await this.units.run((tx) =>
      tx.execute(
        `UPDATE clients SET former_token_hash = NULL, former_expires_at = NULL, former_ends_on_use = NULL
         WHERE id = ? AND token_hash = ? AND former_ends_on_use = 1`,
        [id, hash],
      ),
    );
  }

  /** Keeps `last_used_at`, to the minute. */
  noteUse({ id, last_used_at: stored }: ClientRow): void {
    const now = Date.now();
    if (now - Math.max(stored ?? 0, this.noted.get(id) ?? 0) < LAST_USED_STEP_MS) return;
    this.noted.set(id, now);
    const written = this.units.run((tx) => tx.execute('UPDATE clients SET last_used_at = ? WHERE id = ?', [now, id]));
    // No request fails for the want of it: a locked, full or closing store skips this minute.
    written.catch(() => undefined);
  }
}

/** The live client whose token has this hash, be it the current one or the one before while that still counts. */
export async function findByToken(from: Pick<StoreReader, 'query'>, hash: string): Promise<ClientRow | null> {
  const [row] = await from.query<ClientRow>(
    'select * from clients where (token_hash = ? or former_token_hash = ?) and revoked_at is null',
    [hash, hash],
  );
  if (!row) return null;
  if (sameHash(row.token_hash, hash)) return row;
  return sameHash(row.former_token_hash, hash) && formerCounts(row) ? row : null;
}

/** Whether the token before the last rotation still opens the door. */
export function formerCounts({ former_expires_at: expiresAt }: ClientRow): boolean {
  return expiresAt !== null && expiresAt > Date.now();
}

function sameHash(stored: string | null, hash: string): boolean {
  return stored !== null && timingSafeEqual(Buffer.from(stored), Buffer.from(hash));
}

/** The scheme's name is case-insensitive (RFC 7235); null where the header is absent or of another scheme. */
export function bearerToken(authorization: string | undefined): string | null {
  return /^bearer +(\S.*)$/i.exec(authorization ?? '')?.[1]?.trimEnd() ?? null;
}
