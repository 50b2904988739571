import { Injectable } from '@nestjs/common';
import { AuditLog, type Origin } from '../audit/index.js';
import { newIdentifier, UnitOfWork, type Tx } from '../database/index.js';
import { DomainError } from '../errors/index.js';
import { Notices } from '../notices/index.js';
import { Clock } from '../retention/index.js';
import { hashOf } from './access-token.js';
import { actingRow } from './acting-client.js';
import { recordOf } from './client-record.js';
import type { Client } from './client.js';
import { isPrivileged, requireWithin, scopesFromJson } from './grants.js';
import { newDeviceCode, newUserCode, readUserCode } from './pairing-codes.js';
import { pairingOf, PendingPairings, type PairingRecord, type PairingRow } from './pending-pairings.js';
import type { Scope } from './scopes.js';

/** How long the owner has to decide and the program to fetch its token (WIRE B8). */
export const PAIRING_SECONDS = 600;
/** Least pause between two polls, until a program polls too fast. */
export const POLL_SECONDS = 5;

export interface PairingDraft {
  /** The software's own name. */
  software: string;
  clientName: string;
  scopes: readonly Scope[];
}

/** The codes of a new pairing: nowhere but here, the store keeps their hashes. */
export interface PairingCodes {
  deviceCode: string;
  userCode: string;
}

export interface Approval {
  /** Narrows what was asked for; absent: all of it but the privileged scopes. */
  scopes?: readonly Scope[];
  name?: string;
  /** Seconds from the moment the program fetches its token; absent: until it is revoked. */
  tokenExpiresIn?: number;
}

/** Programs that ask to be let in, and the owner's word on them (RFC 8628, WIRE B8 steps 1 and 2). */
@Injectable()
export class Pairings {
  constructor(
    private readonly units: UnitOfWork,
    private readonly pending: PendingPairings,
    private readonly audit: AuditLog,
    private readonly notices: Notices,
    private readonly clock: Clock,
  ) {}

  /** Throws rate_limit_exceeded while too many wait. */
  async ask({ software, clientName, scopes }: PairingDraft, origin: Origin): Promise<PairingCodes> {
    const codes = { deviceCode: newDeviceCode(), userCode: newUserCode() };
    const id = newIdentifier('pair');
    const now = this.clock.wallMs();
    await this.units.run(async (tx) => {
      await this.pending.requireRoom(tx);
      await tx.execute(
        `INSERT INTO pairings (id, device_code_hash, user_code_hash, client_name, software, scopes, address, status,
           interval_seconds, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, 'pending', ?, ?, ?)`,
        [
          id,
          hashOf(codes.deviceCode),
          hashOf(codes.userCode),
          clientName,
          software,
          JSON.stringify(scopes),
          origin.address ?? '',
          POLL_SECONDS,
          now,
          now + PAIRING_SECONDS * 1000,
        ],
      );
      const detail = { name: clientName, software, scopes };
      await this.audit.record(tx, { action: 'pairing.asked', object: id, origin, detail });
    });
    this.pending.remember(id, codes.userCode);
    this.notices.emit('pairing.moved', { pairing_id: id, status: 'asked' });
    return codes;
  }

  /**
   * Throws pairing_not_found, pairing_decided, invalid_value for more than was asked for, and insufficient_scope for more
   * than the caller has itself.
   */
  async approve(caller: Client, typed: string, approval: Approval, origin: Origin): Promise<PairingRecord> {
    return this.decide(caller, typed, async (tx, row, own) => {
      const scopes = grantedScopes(scopesFromJson(row.scopes), approval.scopes);
      requireWithin(own, scopes);
      await tx.execute(
        `UPDATE pairings SET status = 'approved', scopes = ?, client_name = ?, token_expires_in = ?, decided_at = ?,
           decided_by = ? WHERE id = ? AND status = 'pending'`,
        [
          JSON.stringify(scopes),
          approval.name ?? row.client_name,
          approval.tokenExpiresIn ?? null,
          this.clock.wallMs(),
          caller.id,
          row.id,
        ],
      );
      await this.audit.record(tx, { action: 'pairing.approved', object: row.id, origin, detail: { scopes } });
    });
  }

  /** Throws pairing_not_found and pairing_decided. */
  async deny(caller: Client, typed: string, origin: Origin): Promise<PairingRecord> {
    return this.decide(caller, typed, async (tx, row) => {
      await tx.execute(
        `UPDATE pairings SET status = 'denied', decided_at = ?, decided_by = ? WHERE id = ? AND status = 'pending'`,
        [this.clock.wallMs(), caller.id, row.id],
      );
      await this.audit.record(tx, { action: 'pairing.denied', object: row.id, origin });
    });
  }

  private async decide(
    caller: Client,
    typed: string,
    write: (tx: Tx, row: PairingRow, own: readonly Scope[]) => Promise<void>,
  ): Promise<PairingRecord> {
    const decided = await this.units.run(async (tx) => {
      const acting = recordOf(await actingRow(tx, caller));
      const waiting = await this.pending.waiting(tx, typed);
      await write(tx, waiting, acting.scopes);
      const [row] = await tx.query<PairingRow>('select * from pairings where id = ?', [waiting.id]);
      return pairingOf(row!, readUserCode(typed));
    });
    this.notices.emit('pairing.moved', { pairing_id: decided.id, status: decided.status });
    return decided;
  }
}

/** Privileged scopes are granted only where they are named (WIRE B8). */
function grantedScopes(asked: readonly Scope[], named: readonly Scope[] | undefined): readonly Scope[] {
  const granted = named ?? asked.filter((scope) => !isPrivileged(scope));
  const beyond = granted.find((scope) => !asked.includes(scope));
  if (beyond !== undefined) {
    throw new DomainError('invalid_value', `The program has not asked for ${beyond}.`, { param: 'scopes' });
  }
  if (granted.length > 0) return granted;
  throw new DomainError('invalid_value', 'Only privileged scopes were asked for; name those you grant.', {
    param: 'scopes',
  });
}
