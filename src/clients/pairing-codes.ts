import { randomBytes, randomInt } from 'node:crypto';

/** Consonants that are not mistaken for each other and spell no words (RFC 8628 6.1): 20 to the 8th codes. */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const LENGTH = 8;
const FORM = new RegExp(`^[${LETTERS}]{${LENGTH}}$`);

/** What the program polls with: 256 random bits. */
export function newDeviceCode(): string {
  return randomBytes(32).toString('base64url');
}

/** What a person reads off and types: `WDJB-MJHT`. */
export function newUserCode(): string {
  return hyphenated(Array.from({ length: LENGTH }, () => LETTERS.charAt(randomInt(LETTERS.length))).join(''));
}

/** The code that was typed, in whatever case and with or without its hyphen; null where it is none. */
export function readUserCode(typed: string): string | null {
  const code = typed.replace(/[\s-]/g, '').toUpperCase();
  return FORM.test(code) ? hyphenated(code) : null;
}

function hyphenated(code: string): string {
  return `${code.slice(0, LENGTH / 2)}-${code.slice(LENGTH / 2)}`;
}
