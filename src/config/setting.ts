import { isAbsolute, normalize } from 'node:path';
import { CronTime } from 'cron';

/** How one variable's text becomes a value. Null means that the text is not what `expected` asks for. */
export interface Setting<T> {
  /** Completes "expected …" in a complaint. */
  readonly expected: string;
  readonly parse: (text: string) => T | null;
  readonly fallback: () => T;
  /** The default in the words of `.env.example`, where the real one depends on the machine. */
  readonly fallbackText?: string;
  readonly meaning: string;
  /** Its value is shown nowhere: not in a complaint and not by `lmsp config`. */
  readonly isSecret?: true;
}

/** A whole number from `min` to `max`. */
export function whole(fallback: number, range: { min: number; max: number }, meaning: string): Setting<number> {
  return {
    expected: `a whole number from ${range.min} to ${range.max}`,
    parse: (text) => parseWhole(text, range),
    fallback: () => fallback,
    meaning,
  };
}

/** One word of a closed list. */
export function oneOf<const T extends string>(words: readonly T[], fallback: T, meaning: string): Setting<T> {
  return {
    expected: `one of ${words.join(', ')}`,
    parse: (text) => words.find((word) => word === text) ?? null,
    fallback: () => fallback,
    meaning,
  };
}

/** Yes or no. */
export function flag(fallback: boolean, meaning: string): Setting<boolean> {
  return {
    expected: 'true or false',
    parse: (text) => (text === 'true' ? true : text === 'false' ? false : null),
    fallback: () => fallback,
    meaning,
  };
}

/** A file by its absolute path; none by default. */
export function optionalFile(meaning: string): Setting<string> {
  return {
    expected: 'an absolute path',
    parse: (text) => (isAbsolute(text) ? normalize(text) : null),
    fallback: () => '',
    meaning,
  };
}

/** A token that is sent in a header; none by default. */
export function secret(meaning: string): Setting<string> {
  return {
    expected: 'up to 4096 visible ASCII characters',
    parse: (text) => (/^[\x21-\x7e]{1,4096}$/.test(text) ? text : null),
    fallback: () => '',
    meaning,
    isSecret: true,
  };
}

/** The address of another service, without a slash at its end. */
export function serviceAddress(fallback: string, meaning: string): Setting<string> {
  return {
    expected: 'an address such as https://hub.example, without name, password, query or fragment',
    parse: parseAddress,
    fallback: () => fallback,
    meaning,
  };
}

/** Words between commas, each checked by itself; none by default. */
export function listOf(what: string, fits: (word: string) => boolean, meaning: string): Setting<readonly string[]> {
  return {
    expected: `${what}, several between commas`,
    parse: (text) => {
      const words = text.split(',').map((word) => word.trim().toLowerCase());
      return words.every(fits) ? words : null;
    },
    fallback: () => [],
    meaning,
  };
}

/** Times in the five fields of cron, or six with seconds first. */
export function cron(fallback: string, meaning: string): Setting<string> {
  return {
    expected: 'five cron fields, e.g. 0 * * * *, or six with seconds first',
    parse: (text) => (comesUp(text) ? text : null),
    fallback: () => fallback,
    meaning,
  };
}

/** The same setting with a default that is found out at start; `text` describes it to people. */
export function foundAtStart<T>(setting: Setting<T>, fallback: () => T, text: string): Setting<T> {
  return { ...setting, fallback, fallbackText: text };
}

function parseAddress(text: string): string | null {
  if (!URL.canParse(text)) return null;
  const { protocol, username, password, search, hash, href } = new URL(text);
  const isPlain = [username, password, search, hash].every((part) => part === '') && !/[?#]/.test(text);
  return /^https?:$/.test(protocol) && isPlain ? href.replace(/\/+$/, '') : null;
}

function parseWhole(text: string, range: { min: number; max: number }): number | null {
  if (!/^(?:\d{1,16}|-[1-9]\d{0,15})$/.test(text)) return null;
  const value = Number(text);
  return value >= range.min && value <= range.max ? value : null;
}

/** A day that no calendar has, such as 30 February, is refused as well: it would only be noticed at the start. */
function comesUp(expression: string): boolean {
  try {
    new CronTime(expression).sendAt();
    return true;
  } catch {
    return false;
  }
}
