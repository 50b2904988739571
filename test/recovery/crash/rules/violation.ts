import type { Fault } from '../../../support/fault.js';

/** A fault with what it is a fault of: a task, a create's label, or the run. */
export interface Violation extends Fault {
  subject: string;
}

export function about(subject: string, faults: Fault[]): Violation[] {
  return faults.map((fault) => ({ subject, ...fault }));
}

export function asLine({ subject, rule, what }: Violation): string {
  return `${rule}: ${subject}: ${what}`;
}
