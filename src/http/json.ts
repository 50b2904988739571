import { DomainError } from '../errors/index.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENERS = new Set([0x5b, 0x7b]);
const CLOSERS = new Set([0x5d, 0x7d]);

/**
 * Strict JSON from the bytes of a request. Throws DomainError invalid_json (no UTF-8, no JSON, nested deeper than
 * `maxDepth`) or invalid_value (a key `__proto__`). Messages never repeat the text.
 */
export function parseJson(bytes: Buffer, maxDepth: number): unknown {
  if (nestingOf(bytes, maxDepth) > maxDepth) throw invalidJson(`The body is nested deeper than ${maxDepth} levels.`);
  const value = parse(decode(bytes));
  refusePrototypeKeys(value, '');
  return value;
}

export function invalidJson(message: string): DomainError {
  return new DomainError('invalid_json', message);
}

/** Depth of brackets outside of strings, counted on the bytes: the parser never sees text that is too deep. */
function nestingOf(bytes: Buffer, enough: number): number {
  let depth = 0;
  let inString = false;
  for (let i = 0; i < bytes.length && depth <= enough; i++) {
    const byte = bytes[i]!;
    if (inString) {
      if (byte === BACKSLASH) i++;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) inString = true;
    else if (OPENERS.has(byte)) depth++;
    else if (CLOSERS.has(byte)) depth--;
  }
  return depth;
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw invalidJson('The body is not valid UTF-8.');
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // The parser's message quotes the text, which may be a prompt.
    throw invalidJson('The body is not valid JSON.');
  }
}

/** `__proto__` as a key is an attack or a mistake; no field is called so. Depth is bounded before. */
function refusePrototypeKeys(value: unknown, path: string): void {
  if (Array.isArray(value)) {
    value.forEach((element, index) => refusePrototypeKeys(element, `${path}[${index}]`));
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, member] of Object.entries(value)) {
      const memberPath = path === '' ? key : `${path}.${key}`;
      if (key === '__proto__') {
        throw new DomainError('invalid_value', 'A key may not be named __proto__.', { param: memberPath });
      }
      refusePrototypeKeys(member, memberPath);
    }
  }
}
