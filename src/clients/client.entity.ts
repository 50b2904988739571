import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A program that may use the service, or its owner. The token itself is never stored. */
@Entity('clients')
@Index('clients_token_hash', ['tokenHash'], { unique: true })
@Index('clients_former_token_hash', ['formerTokenHash'], { unique: true })
@Index('clients_subject', ['authority', 'subject'], { unique: true })
export class ClientEntity {
  @PrimaryColumn({ type: 'text', name: 'id' })
  id: string;

  @Column({ type: 'text', name: 'name' })
  name: string;

  /** 1 for the owner's own client, made at the first start. */
  @Column({ type: 'integer', name: 'owner' })
  owner: number;

  /** JSON array of scope names. */
  @Column({ type: 'text', name: 'scopes' })
  scopes: string;

  /** SHA-256 of the token in hex; null once revoked. */
  @Column({ type: 'text', name: 'token_hash', nullable: true })
  tokenHash: string | null;

  /** First 9 and last 4 characters, to tell tokens apart. */
  @Column({ type: 'text', name: 'token_hint', nullable: true })
  tokenHint: string | null;

  /** Epoch milliseconds, as the times below. */
  @Column({ type: 'integer', name: 'created_at' })
  createdAt: number;

  /** Coarse: written at most once a minute. */
  @Column({ type: 'integer', name: 'last_used_at', nullable: true })
  lastUsedAt: number | null;

  @Column({ type: 'integer', name: 'expires_at', nullable: true })
  expiresAt: number | null;

  @Column({ type: 'integer', name: 'revoked_at', nullable: true })
  revokedAt: number | null;

  /** The token before the last rotation, as long as it still opens the door. */
  @Column({ type: 'text', name: 'former_token_hash', nullable: true })
  formerTokenHash: string | null;

  @Column({ type: 'integer', name: 'former_expires_at', nullable: true })
  formerExpiresAt: number | null;

  /** 1: the client rotated itself, and the first use of the new token ends the former one. */
  @Column({ type: 'integer', name: 'former_ends_on_use', nullable: true })
  formerEndsOnUse: number | null;

  /** Id of the client that let it in; null for the owner, and for one that was made without the service. */
  @Column({ type: 'text', name: 'created_by', nullable: true })
  createdBy: string | null;

  /** Name of the extension whose authenticator vouches for it; null: it has a token of ours. */
  @Column({ type: 'text', name: 'authority', nullable: true })
  authority: string | null;

  /** Its name there. */
  @Column({ type: 'text', name: 'subject', nullable: true })
  subject: string | null;
}
