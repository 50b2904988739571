type Json = Record<string, unknown>;

/** Up to this size a text is counted exactly: that takes a second at most. */
const COUNTED_BYTES = 262_144;

/** What composing characters may shrink a text by, generously: three jamo of nine bytes become a syllable of three. */
const NORMALIZERS: Readonly<Record<string, number>> = { none: 1, NFC: 4 };
const SPLITTERS: readonly unknown[] = ['ByteLevel', 'Digits', 'Split'];

/**
 * Bytes of text that one token of this tokenizer.json stands for at most; null where that cannot be said, because text
 * may be dropped or replaced before it is split.
 */
export function longestToken(content: Json): number | null {
  const model = content['model'] as { type?: unknown; vocab?: Json } | undefined;
  const normalizer = content['normalizer'] as { type?: string } | null | undefined;
  const shrinks = NORMALIZERS[normalizer ? String(normalizer.type) : 'none'];
  const splitters = flatten(content['pre_tokenizer'] as Json | null | undefined);
  const added = (content['added_tokens'] ?? []) as { content: string; lstrip?: boolean; rstrip?: boolean }[];
  const keepsText =
    model?.type === 'BPE' &&
    splitters.some(({ type }) => type === 'ByteLevel') &&
    splitters.every(({ type, behavior }) => SPLITTERS.includes(type) && behavior !== 'Removed') &&
    added.every(({ lstrip, rstrip }) => !lstrip && !rstrip);
  if (!keepsText || shrinks === undefined) return null;
  // Byte-level words have one character for each byte.
  let longest = Math.max(1, ...added.map((token) => Buffer.byteLength(token.content)));
  for (const word of Object.keys(model.vocab ?? {})) longest = Math.max(longest, word.length);
  return longest * shrinks;
}

/** A number of tokens that the text has at least; 0 for texts that are counted quickly, or about which nothing is known. */
export function leastTokens(text: string, longest: number | null): number {
  const bytes = Buffer.byteLength(text);
  return longest === null || bytes <= COUNTED_BYTES ? 0 : Math.ceil(bytes / longest);
}

function flatten(splitter: Json | null | undefined): Json[] {
  if (!splitter) return [];
  return splitter['type'] === 'Sequence' ? ((splitter['pretokenizers'] ?? []) as Json[]).flatMap(flatten) : [splitter];
}
