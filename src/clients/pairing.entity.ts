import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';

/** A program's request to be let in, until the owner decides and it has fetched its token (RFC 8628, WIRE B8). */
@Entity('pairings')
@Index('pairings_device_code_hash', ['deviceCodeHash'], { unique: true })
@Index('pairings_user_code_hash', ['userCodeHash'], { unique: true })
@Check('pairings_status_known', `"status" IN ('pending', 'approved', 'denied', 'consumed')`)
export class PairingEntity {
  @PrimaryColumn({ type: 'text', name: 'id' })
  id: string;

  @Column({ type: 'text', name: 'device_code_hash' })
  deviceCodeHash: string;

  @Column({ type: 'text', name: 'user_code_hash' })
  userCodeHash: string;

  @Column({ type: 'text', name: 'client_name' })
  clientName: string;

  /** The software's own name, the `client_id` of its request. */
  @Column({ type: 'text', name: 'software' })
  software: string;

  /** JSON array of scope names: asked for, then granted. */
  @Column({ type: 'text', name: 'scopes' })
  scopes: string;

  @Column({ type: 'text', name: 'address' })
  address: string;

  @Column({ type: 'text', name: 'status' })
  status: 'pending' | 'approved' | 'denied' | 'consumed';

  @Column({ type: 'integer', name: 'interval_seconds' })
  intervalSeconds: number;

  @Column({ type: 'integer', name: 'last_polled_at', nullable: true })
  lastPolledAt: number | null;

  @Column({ type: 'text', name: 'client_id', nullable: true })
  @ForeignKey('ClientEntity', { name: 'pairings_client' })
  clientId: string | null;

  @Column({ type: 'integer', name: 'created_at' })
  createdAt: number;

  @Column({ type: 'integer', name: 'expires_at' })
  expiresAt: number;

  @Column({ type: 'integer', name: 'decided_at', nullable: true })
  decidedAt: number | null;

  /** Id of the client that decided. */
  @Column({ type: 'text', name: 'decided_by', nullable: true })
  decidedBy: string | null;

  /** Seconds that the token will be good for; null: until it is revoked. */
  @Column({ type: 'integer', name: 'token_expires_in', nullable: true })
  tokenExpiresIn: number | null;
}
