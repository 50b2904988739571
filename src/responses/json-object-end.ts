/** Characters that JSON has outside of strings. */
const STRUCTURAL = /[\s\w{}[\],:+.-]/;

/** Finds the end of a JSON object in text that comes in pieces; what stands in it need not be valid. */
export class JsonObjectEnd {
  private depth = 0;
  private inString = false;
  private escaped = false;

  /** `depth`: objects and lists that are open already. */
  constructor(depth = 0) {
    this.depth = depth;
  }

  /** Length of what belongs to the object, and whether it has come to its end or cannot any more. */
  take(text: string): { length: number; state: 'open' | 'ended' | 'broken' } {
    for (let at = 0; at < text.length; at++) {
      const character = text[at]!;
      if (this.inString) this.string(character);
      else if (!STRUCTURAL.test(character) && character !== '"') return { length: at, state: 'broken' };
      else if (this.ends(character)) return { length: at + 1, state: 'ended' };
    }
    return { length: text.length, state: 'open' };
  }

  private string(character: string): void {
    if (this.escaped) this.escaped = false;
    else if (character === '\\') this.escaped = true;
    else if (character === '"') this.inString = false;
  }

  private ends(character: string): boolean {
    if (character === '"') this.inString = true;
    else if (character === '{' || character === '[') this.depth += 1;
    else if (character === '}' || character === ']') this.depth -= 1;
    return this.depth <= 0 && (character === '}' || character === ']');
  }
}
