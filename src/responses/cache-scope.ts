import type { Config } from '../config/index.js';

/**
 * Who finds the beginnings of whose prompts in the cache: each client its own. Shared, the time to a first token and
 * cached_tokens would tell a client what another one has asked.
 */
export function cacheScope({ prefixCacheShared }: Config, clientId: string): string {
  return prefixCacheShared ? '' : clientId;
}
