import { Body, Controller, Get, HttpCode, Post, Req } from '@nestjs/common';
import type { Request } from 'express';
import { RequestOrigin, type Origin } from '../audit/index.js';
import {
  ClientRevocation,
  DEFAULT_SCOPES,
  DeviceGrant,
  isScope,
  knownScopes,
  PAIRING_SECONDS,
  Pairings,
  POLL_SECONDS,
  Public,
  type Scope,
} from '../clients/index.js';
import { DomainError } from '../errors/index.js';
import { bodyOf, OAuthBody } from '../http/index.js';
import { DescribeRoute, Tag } from '../openapi/index.js';
import { seconds } from './client-view.js';
import { DeviceAuthorizationDto, RevokeDto, TokenDto } from './dto/oauth.dto.js';
import { originUrl } from './origin-url.js';
import { DEVICE_AUTHORIZATION, NOTHING, SERVER_METADATA, TOKEN_GRANT } from './pairing-schema.js';
import { WrongCodes } from './wrong-codes.js';

const DEVICE_CODE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

/** Answer of POST /oauth/device_authorization (RFC 8628 3.2). */
export interface DeviceAuthorization {
  device_code: string;
  user_code: string;
  verification_uri: string;
  verification_uri_complete: string;
  expires_in: number;
  interval: number;
}

/** Answer of POST /oauth/token (RFC 6749 5.1). */
export interface TokenGrant {
  access_token: string;
  token_type: 'Bearer';
  scope: string;
  expires_in?: number;
  client_id: string;
}

/** Pairing as a program does it (RFC 8628, WIRE B8), and giving a token back (RFC 7009). */
@Tag('Pairing')
@Controller()
@OAuthBody()
export class OAuthController {
  constructor(
    private readonly pairings: Pairings,
    private readonly grant: DeviceGrant,
    private readonly revocation: ClientRevocation,
    private readonly codes: WrongCodes,
  ) {}

  @Post('oauth/device_authorization')
  @HttpCode(200)
  @Public()
  @DescribeRoute({
    id: 'authorizeDevice',
    summary: 'Asks to be paired (RFC 8628)',
    body: bodyOf(DeviceAuthorizationDto),
    form: true,
    answers: { 200: { description: 'The codes', schema: DEVICE_AUTHORIZATION } },
    errors: ['invalid_request', 'invalid_scope', 'rate_limit_exceeded', 'storage_busy', 'storage_full'],
  })
  async authorize(
    @Body() body: DeviceAuthorizationDto,
    @RequestOrigin() origin: Origin,
    @Req() request: Request,
  ): Promise<DeviceAuthorization> {
    this.codes.countAsked(origin);
    const draft = {
      software: body.client_id,
      clientName: body.client_name ?? body.client_id,
      scopes: readScope(body.scope ?? null),
    };
    const { deviceCode, userCode } = await this.pairings.ask(draft, origin);
    const page = `${originUrl(request)}/pair`;
    return {
      device_code: deviceCode,
      user_code: userCode,
      verification_uri: page,
      verification_uri_complete: `${page}?user_code=${userCode}`,
      expires_in: PAIRING_SECONDS,
      interval: POLL_SECONDS,
    };
  }

  @Post('oauth/token')
  @HttpCode(200)
  @Public()
  @DescribeRoute({
    id: 'pollToken',
    summary: 'Fetches the token of an approved pairing',
    body: bodyOf(TokenDto),
    form: true,
    answers: { 200: { description: 'The token', schema: TOKEN_GRANT } },
    errors: [
      'invalid_request',
      'invalid_grant',
      'unsupported_grant_type',
      'authorization_pending',
      'slow_down',
      'access_denied',
      'expired_token',
      'rate_limit_exceeded',
      'storage_busy',
      'storage_full',
    ],
  })
  async token(@Body() body: TokenDto, @RequestOrigin() origin: Origin): Promise<TokenGrant> {
    if (body.grant_type !== DEVICE_CODE_GRANT) {
      throw new DomainError('unsupported_grant_type', `grant_type must be ${DEVICE_CODE_GRANT}.`);
    }
    const issued = await this.grant.redeem(body.device_code, body.client_id, origin);
    if (issued === null) {
      this.codes.countWrong(origin);
      throw new DomainError('invalid_grant', 'This device code is not known.');
    }
    const { client, token } = issued;
    return {
      access_token: token,
      token_type: 'Bearer',
      scope: client.scopes.join(' '),
      ...(client.expiresAt !== null && { expires_in: seconds(client.expiresAt - client.createdAt) }),
      client_id: client.id,
    };
  }

  /** 200 also for what is no token: then there is nothing to give back. */
  @Post('oauth/revoke')
  @HttpCode(200)
  @Public()
  @DescribeRoute({
    id: 'revokeToken',
    summary: 'Gives a token back (RFC 7009)',
    body: bodyOf(RevokeDto),
    form: true,
    answers: { 200: { description: 'It opens nothing any more, if it ever did', schema: NOTHING } },
    errors: ['invalid_request', 'unsupported_token_type', 'rate_limit_exceeded', 'storage_busy', 'storage_full'],
  })
  async revoke(@Body() { token }: RevokeDto, @RequestOrigin() origin: Origin): Promise<Record<string, never>> {
    if (!(await this.revocation.revokeToken(token, origin))) this.codes.countWrong(origin);
    return {};
  }

  /** RFC 8414. */
  @Get('.well-known/oauth-authorization-server')
  @Public()
  @DescribeRoute({
    id: 'getAuthorizationServer',
    summary: 'Tells where and how programs pair (RFC 8414)',
    answers: { 200: { description: 'The metadata', schema: SERVER_METADATA } },
  })
  metadata(@Req() request: Request): Record<string, unknown> {
    const issuer = originUrl(request);
    return {
      issuer,
      device_authorization_endpoint: `${issuer}/oauth/device_authorization`,
      token_endpoint: `${issuer}/oauth/token`,
      revocation_endpoint: `${issuer}/oauth/revoke`,
      scopes_supported: knownScopes(),
      response_types_supported: [],
      grant_types_supported: [DEVICE_CODE_GRANT],
      token_endpoint_auth_methods_supported: ['none'],
      revocation_endpoint_auth_methods_supported: ['none'],
    };
  }
}

function readScope(text: string | null): readonly Scope[] {
  const words = (text ?? '').split(' ').filter((word) => word !== '');
  if (words.length === 0) return DEFAULT_SCOPES;
  return [...new Set(words)].map((word) => {
    if (isScope(word)) return word;
    throw new DomainError('invalid_scope', 'A scope is not known; the metadata lists all.');
  });
}
