import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ACCESS, SENDER, type Access, type AuthenticatedRequest } from './access.decorators.js';
import { ClientDirectory } from './client-directory.js';
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
    private readonly directory: ClientDirectory,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const marked = [context.getHandler(), context.getClass()];
    const access = this.reflector.getAllAndOverride<Access | undefined>(ACCESS, marked);
    if (access === undefined) throw new Error('a route without a mark of who may use it');
    if (access.kind === 'public') return true;
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    const client = await this.directory.authenticate(request.headers.authorization);
    request[SENDER] = client;
    request.clientId = client.id;
    if (access.kind === 'scopes' && !mayUse(client, access, request)) throw new InsufficientScope(access.scopes[0]);
    return true;
  }
}

function mayUse(client: Client, access: Access & { kind: 'scopes' }, { params }: AuthenticatedRequest): boolean {
  if (access.own !== null && params[access.own] === client.id) return true;
  return access.scopes.some((scope) => client.scopes.includes(scope));
}
