import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { originOf } from '../audit/index.js';
import { DomainError } from '../errors/index.js';
import { AccessRefusals } from './access-refusals.js';
import { ACCESS, SENDER, type Access, type AuthenticatedRequest } from './access.decorators.js';
import { Authentication } from './authentication.js';
import type { Client } from './client.js';
import { InsufficientScope } from './clients.errors.js';

/**
 * Stands before every route: who is it, and may they? Guards run before the body is read, so a stranger's body never
 * is. Closed by default: a route without a mark answers nobody, and keeps the service from starting (RouteAccesses).
 */
@Injectable()
export class ScopeGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly authentication: Authentication,
    private readonly refusals: AccessRefusals,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const marked = [context.getHandler(), context.getClass()];
    const access = this.reflector.getAllAndOverride<Access | undefined>(ACCESS, marked);
    if (access === undefined) throw new Error('a route without a mark of who may use it');
    if (access.kind === 'public') return true;
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    const client = await this.sender(request);
    request[SENDER] = client;
    request.clientId = client.id;
    if (access.kind === 'scopes' && !mayUse(client, access, request)) {
      const [scope] = access.scopes;
      this.refusals.missingScope(scope, originOf(request));
      throw new InsufficientScope(scope);
    }
    return true;
  }

  private async sender(request: AuthenticatedRequest): Promise<Client> {
    try {
      return await this.authentication.sender(request);
    } catch (error) {
      const wrong = error instanceof DomainError && ['invalid_api_key', 'token_expired'].includes(error.code);
      if (wrong) this.refusals.wrongSecret(originOf(request));
      throw error;
    }
  }
}

function mayUse(client: Client, access: Access & { kind: 'scopes' }, { params }: AuthenticatedRequest): boolean {
  if (access.own !== null && params[access.own] === client.id) return true;
  return access.scopes.some((scope) => client.scopes.includes(scope));
}
