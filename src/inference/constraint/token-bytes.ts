type Json = Record<string, unknown>;

/**
 * The bytes that a token adds to a text, by a tokenizer.json (Hugging Face tokenizers). Null for a tokenizer whose tokens
 * do not stand for bytes of their own: WordPiece, say.
 */
export function tokenBytesOf(content: Json): ((token: string) => Buffer) | null {
  const decoders = flatten(content['decoder']);
  if (decoders.some(({ type }) => type === 'ByteLevel')) return byteLevel;
  const blank = decoders.find(({ type }) => type === 'Metaspace' || type === 'Replace');
  if (blank === undefined || decoders.some(({ type }) => type === 'WordPiece')) return null;
  return (token) => {
    const byte = /^<0x([0-9A-Fa-f]{2})>$/.exec(token)?.[1];
    return byte === undefined ? Buffer.from(token.replaceAll('▁', ' '), 'utf8') : Buffer.from(byte, 'hex');
  };
}

function flatten(decoder: unknown): Json[] {
  const one = (decoder ?? {}) as Json;
  return one['type'] === 'Sequence' ? ((one['decoders'] as Json[] | undefined) ?? []) : [one];
}

const BYTE_OF = byteLevelAlphabet();

function byteLevel(token: string): Buffer {
  const bytes = [...token].map((character) => BYTE_OF.get(character));
  // A word that was added is itself.
  return bytes.includes(undefined) ? Buffer.from(token, 'utf8') : Buffer.from(bytes as number[]);
}

/** Printable bytes stand for themselves, the others are letters from U+0100 on (byte-level BPE of GPT-2). */
function byteLevelAlphabet(): Map<string, number> {
  const alphabet = new Map<string, number>();
  let next = 0x100;
  for (let byte = 0; byte < 256; byte++) {
    const printable = (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad);
    alphabet.set(String.fromCharCode(printable ? byte : next++), byte);
  }
  return alphabet;
}
