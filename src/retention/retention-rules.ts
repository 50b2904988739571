import type { RetentionRule } from './retention-rule.js';

/** The rules of retention by kind, in the order of their registration. */
export class RetentionRules {
  private readonly byKind = new Map<string, RetentionRule>();

  /** Throws when the kind is taken: two modules must not delete the same data (HOUSE 3.4). */
  register(rule: RetentionRule): void {
    if (this.byKind.has(rule.kind)) throw new Error(`retention of "${rule.kind}" is registered twice`);
    this.byKind.set(rule.kind, rule);
  }

  all(): RetentionRule[] {
    return [...this.byKind.values()];
  }
}
