import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const PREFIX = 'lmsp_';
const SECRET_BYTES = 32;
/** The fewest base62 digits that hold 256 and 32 bits. */
const SECRET_DIGITS = 43;
const CHECK_DIGITS = 6;
const FORM = new RegExp(`^${PREFIX}[0-9A-Za-z]{${SECRET_DIGITS + CHECK_DIGITS}}$`);

/** A new token: `lmsp_`, 256 random bits, and a check sum over both in base62 (WIRE B8). */
export function newAccessToken(): string {
  const body = PREFIX + base62(BigInt(`0x${randomBytes(SECRET_BYTES).toString('hex')}`), SECRET_DIGITS);
  return body + checkSum(body);
}

/** Whether the check sum fits: refuses typing errors and foreign keys before the database is asked. */
export function isWellFormed(token: string): boolean {
  return FORM.test(token) && token.endsWith(checkSum(token.slice(0, -CHECK_DIGITS)));
}

/** What is stored in place of the token: SHA-256 in hex. 256 random bits need no salt and no slow hash. */
export function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** First 9 and last 4 characters, enough to tell tokens apart. */
export function hintOf(token: string): string {
  return `${token.slice(0, 9)}…${token.slice(-4)}`;
}

function checkSum(body: string): string {
  return base62(BigInt(crc32(body)), CHECK_DIGITS);
}

function base62(value: bigint, digits: number): string {
  let text = '';
  for (let rest = value; text.length < digits; rest /= 62n) text = ALPHABET.charAt(Number(rest % 62n)) + text;
  return text;
}
