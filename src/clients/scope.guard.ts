import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { PUBLIC, REQUIRED_SCOPE, SENDER, type AuthenticatedRequest } from './access.decorators.js';
import { ClientDirectory } from './client-directory.js';
import { InsufficientScope } from './clients.errors.js';
import type { Scope } from './scopes.js';

/**
 * Stands before every route: who is it, and may they? Guards run before the body is read, so a stranger's body never
 * is. Closed by default: only `@Public` opens a route.
 */
@Injectable()
export class ScopeGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly directory: ClientDirectory,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const marked = [context.getHandler(), context.getClass()];
    if (this.reflector.getAllAndOverride<boolean | undefined>(PUBLIC, marked)) return true;
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    const client = await this.directory.authenticate(request.headers.authorization);
    request[SENDER] = client;
    request.clientId = client.id;
    const scope = this.reflector.getAllAndOverride<Scope | undefined>(REQUIRED_SCOPE, marked);
    if (scope !== undefined && !client.scopes.includes(scope)) throw new InsufficientScope(scope);
    return true;
  }
}
