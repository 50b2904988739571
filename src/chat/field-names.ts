import { DomainError } from '../errors/index.js';

/**
 * What fields of a response request are called in the request that it was made of: path → path, for the field and what
 * lies within it. The longest path that fits decides.
 */
export class FieldNames {
  private readonly names: [ours: string, theirs: string][];

  constructor(names: Record<string, string>) {
    this.names = Object.entries(names).sort(([a], [b]) => b.length - a.length);
  }

  /** The error in the words of the request it answers. */
  inTheirs(error: DomainError): DomainError {
    const { code, message, param: ours, retryAfterSeconds, cause } = error;
    if (ours === null) return error;
    const param = this.of(ours);
    if (param === ours) return error;
    const options = { param, cause, ...(retryAfterSeconds !== null && { retryAfterSeconds }) };
    return new DomainError(code, message.replaceAll(`'${ours}'`, `'${param}'`), options);
  }

  private of(path: string): string {
    for (const [ours, theirs] of this.names) {
      const rest = path.slice(ours.length);
      if (path.startsWith(ours) && /^(?:$|[.[/])/.test(rest)) return theirs + rest;
    }
    return path;
  }
}
