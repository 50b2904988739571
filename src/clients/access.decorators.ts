import { applyDecorators, createParamDecorator, SetMetadata, type ExecutionContext } from '@nestjs/common';
import { TOKEN_SCHEME, whenDescribed } from '../openapi/index.js';
import type { Client } from './client.js';
import type { Scope } from './scopes.js';

/** Who may use a route. */
export type Access =
  | { readonly kind: 'public' }
  | { readonly kind: 'any' }
  | {
      readonly kind: 'scopes';
      /** One of them is enough. */
      readonly scopes: readonly [Scope, ...Scope[]];
      /** Name of the path parameter that may be the caller's own id instead. */
      readonly own: string | null;
    };

export const ACCESS = Symbol('Access');

/** Where the guard notes who sends a request. A symbol, since Node has a `request.client` of its own: the socket. */
export const SENDER = Symbol('Sender');

/** `clientId` is what the request's log line shows. */
export interface AuthenticatedRequest {
  headers: Record<string, string | string[] | undefined>;
  params: Record<string, string | string[]>;
  socket: { remoteAddress?: string };
  [SENDER]?: Client;
  clientId?: string;
}

type Mark = ClassDecorator & MethodDecorator;

/** The scopes also stand in the description of the API. */
function mark(access: Access): Mark {
  const roles = access.kind === 'public' ? [] : access.kind === 'any' ? [[]] : access.scopes.map((scope) => [scope]);
  return applyDecorators(
    SetMetadata(ACCESS, access),
    ...roles.map((role) => whenDescribed(({ ApiSecurity }) => ApiSecurity(TOKEN_SCHEME, role))),
  );
}

/** The route needs no token. */
export const Public = (): Mark => mark({ kind: 'public' });

/** The route needs a valid token, whatever its scopes. */
export const AnyClient = (): Mark => mark({ kind: 'any' });

/** The route needs a token with one of these scopes. Every route has one of these marks, or the service does not start. */
export const RequireScope = (...scopes: [Scope, ...Scope[]]): Mark => mark({ kind: 'scopes', scopes, own: null });

/** The route needs the scope, unless the path parameter names the caller itself. */
export const RequireScopeOrOwn = (scope: Scope, parameter: string): Mark =>
  mark({ kind: 'scopes', scopes: [scope], own: parameter });

/** Parameter: the client that sent the request. Not on public routes. */
export const CurrentClient = createParamDecorator((_: unknown, context: ExecutionContext): Client => {
  const client = context.switchToHttp().getRequest<AuthenticatedRequest>()[SENDER];
  if (client === undefined) throw new Error('@CurrentClient on a public route');
  return client;
});
