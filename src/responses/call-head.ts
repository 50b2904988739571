import { JsonObjectEnd } from './json-object-end.js';

/** The beginning of a call, as far as its arguments, in the order that models are taught. */
const HEAD = /^\s*\[?\s*\{\s*"name"\s*:\s*("(?:[^"\\]|\\.)*")\s*,\s*"(?:arguments|parameters)"\s*:\s*(?=\{)/;
const OPENING = /^\s*\[?\s*/;

/** A head that is longer is none: it would be read again with every token. */
const LONGEST_HEAD = 65_536;

/** What the beginning of a call turns out to be. `length`: characters that it takes. */
export type CallHead =
  | { kind: 'undecided' }
  | { kind: 'none' }
  /** The arguments follow. */
  | { kind: 'streamed'; name: string; length: number }
  /** The whole object of the call is there, with its members in another order. */
  | { kind: 'whole'; name: string; arguments: string; length: number };

/** Reads the object that a call is, `{"name": …, "arguments": {…}}`; the name is known before any of the arguments. */
export function readCallHead(text: string): CallHead {
  const streamed = HEAD.exec(text);
  if (streamed) return { kind: 'streamed', name: parsed(streamed[1]!) as string, length: streamed[0].length };
  const { length: before } = OPENING.exec(text)![0];
  if (before === text.length) return { kind: 'undecided' };
  if (text[before] !== '{' || text.length > LONGEST_HEAD) return { kind: 'none' };
  const { length, state } = new JsonObjectEnd().take(text.slice(before));
  if (state === 'open') return { kind: 'undecided' };
  return state === 'ended' ? wholeCall(text.slice(before, before + length), before + length) : { kind: 'none' };
}

function wholeCall(text: string, length: number): CallHead {
  const { name, arguments: given, parameters } = (parsed(text) ?? {}) as Record<string, unknown>;
  const stated = given ?? parameters ?? {};
  // Some models write the arguments as a text that holds them.
  const values = typeof stated === 'string' ? parsed(stated) : stated;
  if (typeof name !== 'string' || typeof values !== 'object' || values === null) return { kind: 'none' };
  return { kind: 'whole', name, arguments: JSON.stringify(values), length };
}

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
