import { Injectable } from '@nestjs/common';
import { AuditLog, type Origin } from '../audit/index.js';
import { StoreReader, UnitOfWork, type Tx } from '../database/index.js';
import { DomainError, type ErrorCode } from '../errors/index.js';
import { Notices } from '../notices/index.js';
import { Clock } from '../retention/index.js';
import { hashOf } from './access-token.js';
import { createClient, findClientRow, recordOf, type IssuedToken } from './client-record.js';
import { scopesFromJson } from './grants.js';
import type { PairingRow } from './pending-pairings.js';

/** Added where a program polls too fast, and kept (RFC 8628 3.5); beyond the last step nothing is written any more. */
const SLOW_DOWN_SECONDS = 5;
const LONGEST_INTERVAL_SECONDS = 60;

type Refusal = Extract<
  ErrorCode,
  'authorization_pending' | 'slow_down' | 'access_denied' | 'expired_token' | 'invalid_grant'
>;

const MESSAGES: Record<Refusal, string> = {
  authorization_pending: 'The owner has not decided yet.',
  slow_down: 'Poll less often: five seconds were added to the interval.',
  access_denied: 'The owner has denied this pairing.',
  expired_token: 'This device code has expired; ask anew.',
  invalid_grant: 'This device code has been used, or is not known.',
};

/** A program fetches its token (WIRE B8 steps 3 and 4): one code is one token, however many polls come at once. */
@Injectable()
export class DeviceGrant {
  constructor(
    private readonly reader: StoreReader,
    private readonly units: UnitOfWork,
    private readonly audit: AuditLog,
    private readonly notices: Notices,
    private readonly clock: Clock,
  ) {}

  /**
   * Null for a code that is not known, or another program's. Throws authorization_pending, slow_down, access_denied,
   * expired_token and invalid_grant.
   */
  async redeem(deviceCode: string, software: string, origin: Origin): Promise<IssuedToken | null> {
    const hash = hashOf(deviceCode);
    const seen = await findPairing(this.reader, hash);
    if (seen?.software !== software) return null;
    const known = this.settled(seen);
    if (known !== null) throw refusal(known);
    const outcome = await this.units.run(async (tx) => this.advance(tx, hash, origin));
    if (typeof outcome === 'string') throw refusal(outcome);
    const { pairingId, issued } = outcome;
    this.notices.emit('pairing.moved', { pairing_id: pairingId, status: 'consumed' });
    this.notices.emit('client.changed', { client_id: issued.client.id, change: 'created' });
    return issued;
  }

  /** What needs no write to be answered. */
  private settled(row: PairingRow): Refusal | null {
    if (row.status === 'denied') return 'access_denied';
    if (row.status === 'consumed') return 'invalid_grant';
    if (row.expires_at <= this.clock.wallMs()) return 'expired_token';
    const atEnd = row.interval_seconds >= LONGEST_INTERVAL_SECONDS;
    return row.status === 'pending' && atEnd && this.isEarly(row) ? 'slow_down' : null;
  }

  private async advance(
    tx: Tx,
    hash: string,
    origin: Origin,
  ): Promise<Refusal | { pairingId: string; issued: IssuedToken }> {
    const row = await findPairing(tx, hash);
    if (!row) return 'invalid_grant';
    const settled = this.settled(row);
    if (settled !== null) return settled;
    return row.status === 'pending' ? this.pending(tx, row) : this.approved(tx, row, origin);
  }

  private async pending(tx: Tx, row: PairingRow): Promise<Refusal> {
    if (this.isEarly(row)) {
      const seconds = Math.min(row.interval_seconds + SLOW_DOWN_SECONDS, LONGEST_INTERVAL_SECONDS);
      await tx.execute('UPDATE pairings SET interval_seconds = ? WHERE id = ?', [seconds, row.id]);
      return 'slow_down';
    }
    await tx.execute('UPDATE pairings SET last_polled_at = ? WHERE id = ?', [this.clock.wallMs(), row.id]);
    return 'authorization_pending';
  }

  private async approved(
    tx: Tx,
    row: PairingRow,
    origin: Origin,
  ): Promise<Refusal | { pairingId: string; issued: IssuedToken }> {
    const scopes = scopesFromJson(row.scopes);
    // The word of somebody who was revoked or narrowed since counts no more.
    const approver = row.decided_by === null ? null : await findClientRow(tx, row.decided_by);
    const own = approver === null || approver.revoked_at !== null ? [] : recordOf(approver).scopes;
    if (!own.includes('clients:manage') || !scopes.every((scope) => own.includes(scope))) {
      await tx.execute(`UPDATE pairings SET status = 'denied' WHERE id = ? AND status = 'approved'`, [row.id]);
      await this.audit.record(tx, { action: 'pairing.denied', object: row.id, origin });
      return 'access_denied';
    }
    const issued = await createClient(tx, {
      name: row.client_name,
      scopes,
      lifeSeconds: row.token_expires_in,
      createdBy: row.decided_by,
    });
    const { affected } = await tx.execute(
      `UPDATE pairings SET status = 'consumed', client_id = ? WHERE id = ? AND status = 'approved'`,
      [issued.client.id, row.id],
    );
    if (affected !== 1) throw new Error('a pairing was consumed twice');
    const byItself = { ...origin, actor: issued.client.id };
    await this.audit.record(tx, { action: 'pairing.consumed', object: row.id, origin: byItself, detail: { scopes } });
    return { pairingId: row.id, issued };
  }

  private isEarly({ last_polled_at: last, interval_seconds: seconds }: PairingRow): boolean {
    const since = last === null ? Infinity : this.clock.wallMs() - last;
    return since >= 0 && since < seconds * 1000;
  }
}

async function findPairing(from: Pick<StoreReader, 'query'>, deviceCodeHash: string): Promise<PairingRow | null> {
  const [row] = await from.query<PairingRow>('select * from pairings where device_code_hash = ?', [deviceCodeHash]);
  return row ?? null;
}

function refusal(code: Refusal): DomainError {
  return new DomainError(code, MESSAGES[code]);
}
