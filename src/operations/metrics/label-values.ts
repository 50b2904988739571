import { Injectable } from '@nestjs/common';
import { UNMATCHED_ROUTE } from '../../http/index.js';
import { NONE, type LabelSet, type Registry } from './label-sets.js';

/** The value of every label whose own is not in its set. */
const OTHER = 'other';

/** Names a registry takes in, at most: whoever registers and deletes models all day must not fill the memory. */
const MOST_NAMES = 256;

/**
 * Keeps the values of labels within their closed sets, so that no request can add a series (OPERATE 3.2, "Cardinality
 * rule").
 */
@Injectable()
export class LabelValues {
  private readonly registered: Record<Registry, Set<string>> = {
    build: new Set(),
    kind: new Set(),
    model: new Set([NONE]),
    route: new Set([UNMATCHED_ROUTE]),
    type: new Set(),
  };

  /** Adds names to the set for good: a series that was told once goes on. */
  register(registry: Registry, names: Iterable<string>): void {
    const known = this.registered[registry];
    for (const name of names) if (known.size < MOST_NAMES) known.add(name);
  }

  /** The value as it may be told. */
  within(set: LabelSet, value: string): string {
    const known = typeof set === 'string' ? this.registered[set].has(value) : set.includes(value);
    return known ? value : OTHER;
  }
}
