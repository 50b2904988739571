import type { ServerResponse } from 'node:http';

/**
 * Aborts when the client is gone before its answer was complete. Looks at once, too: a connection that closed while
 * its request was being committed tells nobody a second time.
 */
export function disconnection(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  const look = (): void => {
    if (!response.writableFinished) controller.abort();
  };
  if (response.closed || response.destroyed || response.socket?.destroyed !== false) look();
  else response.once('close', look);
  return controller.signal;
}
