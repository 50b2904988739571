import { describe, expect, it } from 'vitest';
import { oneLine, plainJson, plainText, withoutTokens } from './terminal-text.js';
import { Terminal, type Format } from './terminal.js';

function written(isTTY: boolean, format: Format, work: (terminal: Terminal) => void): string {
  let output = '';
  const stream = { isTTY, write: (text: string | Uint8Array) => ((output += String(text)), true) };
  const options = { format, quiet: false, color: 'auto' as const };
  work(new Terminal(options, { noColor: false, forceColor: false }, stream, stream));
  return output;
}

const EVIL = 'a\u001b[31m\u0007\u009bb\tc\r\nd';

describe('text of others', () => {
  it('moves nothing on a terminal: no escape, bell or carriage return reaches it', () => {
    expect(plainText(EVIL)).toBe('a[31mb\tc\nd');
    expect(written(true, 'table', (terminal) => terminal.text(EVIL))).toBe('a[31mb\tc\nd');
  });

  it('reaches a pipe as it is', () => {
    expect(written(false, 'table', (terminal) => terminal.text(EVIL))).toBe(EVIL);
  });

  it('stands on one line in a table, in the order in which it is read', () => {
    expect(oneLine('a\n b\u202ec\u001b]0;x')).toBe('a bc]0;x');
  });

  it('is the same JSON without what a terminal obeys', () => {
    const json = JSON.stringify({ text: EVIL });
    expect(JSON.parse(plainJson(json))).toEqual({ text: EVIL });
    expect(plainJson(json)).not.toContain('\u009b');
    expect(written(true, 'json', (terminal) => terminal.json({ text: EVIL }))).not.toContain('\u009b');
  });

  it('holds no token in a note, and no colour outside a terminal', () => {
    expect(withoutTokens('key lmsp_0123456789abcdef is wrong')).toBe('key lmsp_… is wrong');
    expect(written(false, 'table', (terminal) => terminal.aside('quiet'))).toBe('quiet\n');
    expect(written(true, 'table', (terminal) => terminal.aside('quiet'))).toContain('\u001b[2m');
  });
});
