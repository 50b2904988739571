import { Injectable } from '@nestjs/common';
import { AuditLog, type Origin } from '../audit/index.js';
import { UnitOfWork, type Tx } from '../database/index.js';
import { Notices } from '../notices/index.js';
import { hashOf, hintOf, newAccessToken } from './access-token.js';
import { actingRow, liveRow } from './acting-client.js';
import { formerCounts } from './client-directory.js';
import { findClientRow, recordOf, type ClientRow, type IssuedToken } from './client-record.js';
import type { Client } from './client.js';
import { InsufficientScope } from './clients.errors.js';
import { requireWithin } from './grants.js';
import { OwnerTokenFile } from './owner-token-file.js';
import { withoutToken } from './subject-clients.js';

/** So long the old token of a client that rotated itself waits for the first use of the new one (WIRE B8). */
const OWN_GRACE_MS = 600_000;

/** The token before the new one, and what ends it. */
interface Former {
  hash: string;
  expiresAt: number;
  endsOnUse: 0 | 1;
}

/** How a token is rotated. */
export interface Rotation {
  /** Seconds that the old token outlives the rotation by another client. */
  graceSeconds: number;
  origin: Origin;
  /** Done first in the same unit: what it throws leaves everything as it was. */
  within: (tx: Tx) => Promise<void>;
}

/** Gives a client a new token (WIRE B8): the one place where a token changes. */
@Injectable()
export class TokenRotation {
  constructor(
    private readonly units: UnitOfWork,
    private readonly audit: AuditLog,
    private readonly ownerFile: OwnerTokenFile,
    private readonly notices: Notices,
  ) {}

  /**
   * By the client itself: the old token stays until the new one is first used, ten minutes at most, since an answer may be
   * lost. By another: the old one dies at once, or after the grace. Throws client_not_found, insufficient_scope,
   * and unsupported_value where it has no token here.
   */
  async rotate(caller: Client, id: string, { graceSeconds, origin, within }: Rotation): Promise<IssuedToken> {
    const token = newAccessToken();
    const client = await this.units.run(async (tx) => {
      await within(tx);
      const acting = await actingRow(tx, caller);
      const own = caller.id === id;
      const row = own ? acting : await liveRow(tx, id);
      if (row.authority !== null) throw withoutToken();
      if (!own) requireWithin(recordOf(acting).scopes, recordOf(row).scopes);
      const former = own ? ownFormer(row, caller) : replacedFormer(row, graceSeconds * 1000);
      await tx.execute(
        `UPDATE clients SET token_hash = ?, token_hint = ?, former_token_hash = ?, former_expires_at = ?,
           former_ends_on_use = ? WHERE id = ?`,
        [
          hashOf(token),
          hintOf(token),
          former?.hash ?? null,
          former?.expiresAt ?? null,
          former === null ? null : former.endsOnUse,
          id,
        ],
      );
      const detail = { own, grace_seconds: own ? null : graceSeconds };
      await this.audit.record(tx, { action: 'client.rotated', object: id, origin, detail });
      return recordOf((await findClientRow(tx, id))!);
    });
    this.notices.emit('client.changed', { client_id: id, change: 'rotated' });
    if (client.owner) await this.ownerFile.rewrite(token);
    return { client, token };
  }
}

/** The token that is in use stays; one that was made before and never used is replaced. */
function ownFormer(row: ClientRow, caller: Client): Former {
  const isFormer = caller.tokenHash !== row.token_hash;
  // Whoever holds what somebody else has rotated away must not undo that.
  if (isFormer && row.former_ends_on_use !== 1) throw new InsufficientScope('clients:manage');
  return { hash: tokenInUse(row), expiresAt: Date.now() + OWN_GRACE_MS, endsOnUse: 1 };
}

function replacedFormer(row: ClientRow, graceMs: number): Former | null {
  return graceMs === 0 ? null : { hash: tokenInUse(row), expiresAt: Date.now() + graceMs, endsOnUse: 0 };
}

/** The client's own rotation waits for its first use: until then its old token is the one it has. */
function tokenInUse(row: ClientRow): string {
  const waits = row.former_ends_on_use === 1 && formerCounts(row);
  return (waits ? row.former_token_hash : row.token_hash) ?? '';
}
