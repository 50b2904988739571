import { DomainError } from '../errors/index.js';

const MOST_KEYS = 16;
const LONGEST_KEY = 64;
const LONGEST_VALUE = 512;

/** A caller's own labels: up to 16 texts. Throws invalid_value or invalid_type naming `metadata.<key>`. */
export function metadataOf(given: Record<string, unknown> | null | undefined): Record<string, string> {
  const entries = Object.entries(given ?? {});
  if (entries.length > MOST_KEYS) throw refused('metadata', `may have at most ${MOST_KEYS} keys`);
  for (const [key, value] of entries) {
    if (key.length > LONGEST_KEY) throw refused('metadata', `may have keys of at most ${LONGEST_KEY} characters`);
    const param = `metadata.${key}`;
    if (typeof value !== 'string') throw new DomainError('invalid_type', `'${param}' must be a string.`, { param });
    if (value.length > LONGEST_VALUE) throw refused(param, `may have at most ${LONGEST_VALUE} characters`);
  }
  return (given ?? {}) as Record<string, string>;
}

function refused(param: string, rule: string): DomainError {
  return new DomainError('invalid_value', `'${param}' ${rule}.`, { param });
}
