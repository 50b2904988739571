import { createParamDecorator, SetMetadata, type CustomDecorator, type ExecutionContext } from '@nestjs/common';
import type { Client } from './client.js';
import type { Scope } from './scopes.js';

export const PUBLIC = Symbol('Public');
export const REQUIRED_SCOPE = Symbol('RequiredScope');

/** Where the guard notes who sends a request. A symbol, since Node has a `request.client` of its own: the socket. */
export const SENDER = Symbol('Sender');

/** `clientId` is what the request's log line shows. */
export interface AuthenticatedRequest {
  headers: { authorization?: string };
  [SENDER]?: Client;
  clientId?: string;
}

/** The route needs no token. */
export const Public = (): CustomDecorator<symbol> => SetMetadata(PUBLIC, true);

/** The route needs a token with this scope; a route without the decorator needs any valid token. */
export const RequireScope = (scope: Scope): CustomDecorator<symbol> => SetMetadata(REQUIRED_SCOPE, scope);

/** Parameter: the client that sent the request. Not on public routes. */
export const CurrentClient = createParamDecorator((_: unknown, context: ExecutionContext): Client => {
  const client = context.switchToHttp().getRequest<AuthenticatedRequest>()[SENDER];
  if (client === undefined) throw new Error('@CurrentClient on a public route');
  return client;
});
