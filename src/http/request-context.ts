import { randomUUID } from 'node:crypto';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { withRequestId, type Notices } from '../notices/index.js';
import { answeredError } from './answered-error.js';
import { isEventStream } from './event-stream.js';

/** What a caller may choose as the id of its request. */
const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;

/** Route of requests that match no pattern: log lines and metrics never carry a raw path. */
export const UNMATCHED_ROUTE = 'unmatched';

/** First middleware of every request: its id, the headers of every answer (WIRE B0), and the notice at its end. */
export function requestContext(notices: Notices): RequestHandler {
  return (request: Request, response: Response, next: NextFunction) => {
    const given = request.get('x-request-id');
    const requestId = given !== undefined && REQUEST_ID.test(given) ? given : randomUUID();
    response.setHeader('X-Request-Id', requestId);
    response.setHeader('LMSP-Version', '1.0');
    response.setHeader('Cache-Control', 'no-store');
    tellEnd(request, response, (notice) => withRequestId(requestId, () => notices.emit('http.request', notice)));
    withRequestId(requestId, next);
  };
}

type RequestNotice = Parameters<typeof Notices.prototype.emit<'http.request'>>[1];

function tellEnd(request: Request, response: Response, tell: (notice: RequestNotice) => void): void {
  const started = performance.now();
  const { socket } = request;
  const before = socket.bytesWritten;
  response.once('close', () => {
    const taskId = response.getHeader('LMSP-Task-Id');
    tell({
      method: request.method,
      route: routePattern(request),
      // 0: the client left before an answer began.
      status: response.headersSent ? response.statusCode : 0,
      duration_ms: Math.round(performance.now() - started),
      bytes: socket.bytesWritten - before,
      stream: isEventStream(response),
      error_code: answeredError(response),
      replayed: response.hasHeader('Idempotent-Replayed'),
      client_id: clientIdOf(request),
      task_id: typeof taskId === 'string' ? taskId : null,
    });
  });
}

/** Pattern of the route that answers, e.g. `/v1/tasks/:id`. */
export function routePattern(request: Request): string {
  const route = request.route as { path?: unknown } | undefined;
  return typeof route?.path === 'string' ? route.path : UNMATCHED_ROUTE;
}

/** Set by whoever authenticates the request. */
function clientIdOf(request: Request & { clientId?: string }): string | null {
  return request.clientId ?? null;
}
