import { AsyncLocalStorage } from 'node:async_hooks';

interface RequestContext {
  readonly requestId: string;
}

const storage = new AsyncLocalStorage<RequestContext>();

/** Runs the rest of a request so that its log lines carry the request id (OPERATE 4). */
export function withRequestId<T>(requestId: string, work: () => T): T {
  return storage.run({ requestId }, work);
}

/** Id of the request that this code runs for, or null outside of one. */
export function currentRequestId(): string | null {
  return storage.getStore()?.requestId ?? null;
}
