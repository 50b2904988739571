/** Something that must not be. */
export interface Fault {
  /** What it breaks: R1…R6, C1…C4 of chapter 11, an invariant of WIRE B5, or a section of WIRE. */
  rule: string;
  what: string;
}

/** Collects faults, all of one thing. */
export class Faults {
  readonly list: Fault[] = [];

  /** Notes a fault unless the condition holds. */
  unless(condition: boolean, rule: string, what: string): void {
    if (!condition) this.list.push({ rule, what });
  }
}
