import { Injectable } from '@nestjs/common';
import { AuditLog, type Origin } from '../audit/index.js';
import { UnitOfWork, type Tx } from '../database/index.js';
import { DomainError } from '../errors/index.js';
import { Notices } from '../notices/index.js';
import { AccessRefusals } from './access-refusals.js';
import { hashOf, isWellFormed } from './access-token.js';
import { findByToken } from './client-directory.js';
import { findClientRow, type ClientRow } from './client-record.js';
import { clientNotFound, lastOwner } from './clients.errors.js';

/**
 * Ends a client (WIRE B8): its token is invalid from the commit on, whoever asked by whatever route. That its streams close
 * and its unfinished work is cancelled follows from the row; the notice only makes it happen at once.
 */
@Injectable()
export class ClientRevocation {
  constructor(
    private readonly units: UnitOfWork,
    private readonly audit: AuditLog,
    private readonly refusals: AccessRefusals,
    private readonly notices: Notices,
  ) {}

  /** Throws client_not_found, and last_owner. A revoked client stays as it is. */
  async revoke(id: string, origin: Origin): Promise<void> {
    const revoked = await this.units.run(async (tx) => {
      const row = await findClientRow(tx, id);
      if (!row) throw clientNotFound();
      if (row.revoked_at !== null) return false;
      await this.end(tx, row, origin);
      return true;
    });
    if (revoked) this.notices.emit('client.revoked', { client_id: id });
  }

  /**
   * By the token itself (RFC 7009); false: it opened nothing. The token before a rotation goes alone. Throws
   * unsupported_token_type for the last owner's.
   */
  async revokeToken(token: string, origin: Origin): Promise<boolean> {
    const hash = isWellFormed(token) ? hashOf(token) : null;
    const ended = hash === null ? null : await this.units.run((tx) => this.endToken(tx, hash, origin));
    if (ended === null) this.refusals.wrongSecret(origin);
    else if (ended.revoked) this.notices.emit('client.revoked', { client_id: ended.id });
    return ended !== null;
  }

  private async endToken(tx: Tx, hash: string, origin: Origin): Promise<{ id: string; revoked: boolean } | null> {
    const row = await findByToken(tx, hash);
    if (!row) return null;
    const { id } = row;
    const byItself = { ...origin, actor: id };
    if (row.token_hash === hash) {
      try {
        await this.end(tx, row, byItself);
      } catch (error) {
        if (!(error instanceof DomainError) || error.code !== 'last_owner') throw error;
        throw new DomainError('unsupported_token_type', error.message);
      }
      return { id, revoked: true };
    }
    await tx.execute(
      `UPDATE clients SET former_token_hash = NULL, former_expires_at = NULL, former_ends_on_use = NULL
       WHERE id = ? AND former_token_hash = ?`,
      [id, hash],
    );
    await this.audit.record(tx, { action: 'client.revoked', object: id, origin: byItself, detail: { former: true } });
    return { id, revoked: false };
  }

  private async end(tx: Tx, row: ClientRow, origin: Origin): Promise<void> {
    if (row.owner === 1 && !(await hasOtherOwner(tx, row.id))) throw lastOwner();
    await tx.execute(
      `UPDATE clients SET revoked_at = ?, token_hash = NULL, token_hint = NULL, former_token_hash = NULL,
         former_expires_at = NULL, former_ends_on_use = NULL WHERE id = ? AND revoked_at IS NULL`,
      [Date.now(), row.id],
    );
    await this.audit.record(tx, { action: 'client.revoked', object: row.id, origin });
  }
}

async function hasOtherOwner(tx: Tx, id: string): Promise<boolean> {
  const rows = await tx.query('select 1 from clients where owner = 1 and revoked_at is null and id <> ? limit 1', [id]);
  return rows.length > 0;
}
