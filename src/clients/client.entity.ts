import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A program that may use the service, or its owner. The token itself is never stored. */
@Entity('clients')
@Index('clients_token_hash', ['tokenHash'], { unique: true })
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
}
