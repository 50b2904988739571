import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { currentRequestId } from '../notices/index.js';

/** Where a request came from, as the record of it says. */
export interface Origin {
  /** Id of the client that sent it; null where nobody is known. */
  readonly actor: string | null;
  readonly requestId: string | null;
  readonly address: string | null;
}

/** What the service did by itself, or a command on its machine without it. */
export const NO_ORIGIN: Origin = { actor: null, requestId: null, address: null };

interface SentRequest {
  clientId?: string;
  socket: { remoteAddress?: string };
}

/** Taken while the request is answered: inside a unit of work the request is no longer known. */
export function originOf({ clientId, socket }: SentRequest): Origin {
  return { actor: clientId ?? null, requestId: currentRequestId(), address: addressOf(socket) };
}

/** Parameter: where the request came from. */
export const RequestOrigin = createParamDecorator((_: unknown, context: ExecutionContext): Origin =>
  originOf(context.switchToHttp().getRequest<SentRequest>()),
);

/** An IPv4 address looks the same on a socket of both families. */
function addressOf({ remoteAddress }: SentRequest['socket']): string | null {
  return remoteAddress?.replace(/^::ffff:(?=\d+\.)/, '') ?? null;
}
