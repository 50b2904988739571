import { variableOf, type Config } from './config-table.js';
import { isLoopback } from './host-names.js';

/** Settings that work but deserve a second look; for `config.warning`. */
export function configWarnings(config: Config): { key: string; reason: string }[] {
  if (isLoopback(config.host) || config.tlsCertFile !== '') return [];
  const reason = 'not a loopback address: tokens, prompts and answers cross the network unencrypted';
  return [{ key: variableOf('host'), reason }];
}
