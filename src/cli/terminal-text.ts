/** Control characters but line feed and tab: what could move a cursor, set a title or ring. */

const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** Marks that change the direction of what stands behind them. */
const DIRECTIONS = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Characters that JSON lets through and a terminal may obey. */

const UNESCAPED = /[\u007f-\u009f]/g;

/** Text as a terminal may see it: without its control sequences nothing of it is obeyed. */
export function plainText(text: string): string {
  return text.replace(CONTROLS, '');
}

/** A name or message of others on one line, as a person reads it. */
export function oneLine(text: string): string {
  return plainText(text.replace(/\s+/g, ' ')).replace(DIRECTIONS, '').trim();
}

/** The same JSON, without characters that a terminal may obey. */
export function plainJson(json: string): string {
  return json.replace(UNESCAPED, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** No access token stands in a message, whoever wrote it. */
export function withoutTokens(text: string): string {
  return text.replace(/lmsp_[0-9A-Za-z]{9,}/g, 'lmsp_…');
}
