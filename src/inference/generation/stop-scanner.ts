/** A stop string that is not well-formed text could only match half a character, and the cut would leave the other half. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * Finds stop strings in text that arrives in pieces. Nothing of a stop string is ever let out: a suffix that may still
 * become one is held back. The match that is complete first wins, of several complete at once the longest, so the
 * outcome does not depend on where the pieces were cut.
 */
export class StopScanner {
  private readonly stops: string[];
  private held = '';

  constructor(stops: readonly string[]) {
    this.stops = stops.filter((stop) => stop !== '' && !LONE_SURROGATE.test(stop));
  }

  /** Text that is certain now; after `matched` the scanner is at its end. */
  push(text: string): { text: string; matched: boolean } {
    const all = this.held + text;
    const match = this.firstMatch(all);
    if (match !== null) {
      this.held = '';
      return { text: all.slice(0, match), matched: true };
    }
    const sure = all.length - undecided(all, this.stops);
    this.held = all.slice(sure);
    return { text: all.slice(0, sure), matched: false };
  }

  /** The text held back, for when no more will come. */
  flush(): string {
    const text = this.held;
    this.held = '';
    return text;
  }

  private firstMatch(text: string): number | null {
    let start: number | null = null;
    let end = Infinity;
    for (const stop of this.stops) {
      const at = text.indexOf(stop);
      if (at < 0) continue;
      if (at + stop.length < end || (at + stop.length === end && at < start!)) {
        start = at;
        end = at + stop.length;
      }
    }
    return start;
  }
}

/** Length of the longest end of the text that is the beginning of a marker: it may still become one. */
export function undecided(text: string, markers: readonly string[]): number {
  let longest = 0;
  for (const marker of markers) {
    for (let length = Math.min(marker.length - 1, text.length); length > longest; length--) {
      if (text.endsWith(marker.slice(0, length))) longest = length;
    }
  }
  return longest;
}
