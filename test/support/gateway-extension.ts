import { Controller, Get, Inject, Injectable, Module } from '@nestjs/common';
import { Column, Entity, PrimaryColumn, type MigrationInterface, type QueryRunner } from 'typeorm';
import {
  CurrentClient,
  DescribeRoute,
  DomainError,
  EXTENSION_SETTINGS,
  RequireScope,
  StoreReader,
  TimedRows,
  whole,
  type AdmissionPolicy,
  type AdmissionRefusal,
  type AdmissionRequest,
  type Authenticator,
  type Client,
  type Credentials,
  type Extension,
  type Identity,
  type Scope,
  type SettingValues,
  type Tx,
} from '../../src/index.js';

/** What an extension of a company looks like that has a gateway and quotas: everything but src/index.ts is out of its reach. */
const SETTINGS = {
  tokensPerClient: whole(1000, { min: 1, max: 1_000_000 }, 'Estimated tokens that a client may use in all.'),
};

@Entity('gateway_usage')
export class UsageEntity {
  @PrimaryColumn({ type: 'text', name: 'client_id' })
  clientId: string;

  @Column({ type: 'integer', name: 'tokens' })
  tokens: number;

  @Column({ type: 'integer', name: 'used_at' })
  usedAt: number;
}

export class CreateUsage1798000000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `CREATE TABLE gateway_usage (client_id text PRIMARY KEY NOT NULL, tokens integer NOT NULL, used_at integer NOT NULL) STRICT`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE gateway_usage');
  }
}

/** The gateway has checked who it is and says so in headers, which nobody else can reach the service with. */
@Injectable()
class GatewayAuthenticator implements Authenticator {
  authenticate({ token, headers }: Credentials): Promise<Identity | null> {
    const user = headers['x-gateway-user'];
    if (token === 'expired') return Promise.reject(new DomainError('token_expired', 'Sign in again.'));
    if (typeof user !== 'string') return Promise.resolve(null);
    const roles = String(headers['x-gateway-roles'] ?? '').split(' ') as Scope[];
    return Promise.resolve({ subject: user, name: `${user} (gateway)`, scopes: roles });
  }
}

@Injectable()
class TokenQuota implements AdmissionPolicy {
  constructor(@Inject(EXTENSION_SETTINGS) private readonly settings: SettingValues<typeof SETTINGS>) {}

  async admit(tx: Tx, request: AdmissionRequest): Promise<AdmissionRefusal | null> {
    const tokens = request.inputTokens + request.maxOutputTokens;
    const [row] = await tx.query<{ tokens: number }>('select tokens from gateway_usage where client_id = ?', [
      request.clientId,
    ]);
    const used = row?.tokens ?? 0;
    if (used + tokens > this.settings.tokensPerClient) {
      return { message: `You have used ${used} tokens; ${tokens} more are too many.`, retryAfterSeconds: 60 };
    }
    await tx.execute(
      `INSERT INTO gateway_usage (client_id, tokens, used_at) VALUES (?, ?, ?)
       ON CONFLICT (client_id) DO UPDATE SET tokens = tokens + excluded.tokens, used_at = excluded.used_at`,
      [request.clientId, tokens, Date.now()],
    );
    return null;
  }
}

@Injectable()
class UsageRetention extends TimedRows {
  readonly kind = 'gateway usage';
  readonly countsFrom = 'used_at';
  readonly keepSeconds = 3600;
  protected readonly table = { name: 'gateway_usage', key: 'client_id', rowBytes: 60 };
}

@Controller('v1/gateway')
class UsageController {
  constructor(private readonly reader: StoreReader) {}

  @Get('usage')
  @RequireScope('gateway:read')
  @DescribeRoute({
    id: 'getGatewayUsage',
    summary: 'Tells what you have used',
    answers: { 200: { description: 'So much', schema: { type: 'object', required: ['tokens'] } } },
  })
  async usage(@CurrentClient() { id }: Client): Promise<{ tokens: number }> {
    const [row] = await this.reader.query<{ tokens: number }>('select tokens from gateway_usage where client_id = ?', [
      id,
    ]);
    return { tokens: row?.tokens ?? 0 };
  }
}

@Module({ controllers: [UsageController] })
class GatewayModule {}

export const gatewayExtension: Extension = {
  name: 'gateway',
  version: '1.0.0',
  compatibleWith: '>=0.1.0',
  module: GatewayModule,
  entities: [UsageEntity],
  migrations: [CreateUsage1798000000000],
  strategies: { authenticator: GatewayAuthenticator, admissionPolicy: TokenQuota },
  retentionRules: [UsageRetention],
  scopes: { 'gateway:read': 'see what it has used' },
  configKeys: SETTINGS,
};
