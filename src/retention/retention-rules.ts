import type { RetentionRule } from './retention-rule.js';

interface OwnedRule {
  rule: RetentionRule;
  owner: string;
}

/** The rules of retention by kind, in the order of their registration. */
export class RetentionRules {
  private readonly byKind = new Map<string, OwnedRule>();

  /**
   * Throws when the kind is taken: two modules must not delete the same data (HOUSE 3.4).
   * @param owner whose rule it is, as the complaint says it
   */
  register(rule: RetentionRule, owner = 'the service'): void {
    const other = this.byKind.get(rule.kind);
    if (other) throw new Error(`retention of "${rule.kind}" is registered twice: by ${other.owner} and ${owner}`);
    this.byKind.set(rule.kind, { rule, owner });
  }

  all(): RetentionRule[] {
    return [...this.byKind.values()].map(({ rule }) => rule);
  }
}
