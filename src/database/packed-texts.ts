/** Many texts as one parameter of a statement. */
export interface PackedTexts {
  bytes: Buffer;
  /** Of each text: its first byte, counted from 1, and how many it has. */
  places: [first: number, length: number][];
}

/**
 * For a statement that writes long texts into many rows, which takes each as `CAST(substr(bytes, first, length) AS TEXT)`.
 * As strings in a JSON parameter they would be escaped, scanned and unescaped, at more than the cost of writing them.
 */
export function packTexts(texts: readonly string[]): PackedTexts {
  const parts = texts.map((text) => Buffer.from(text));
  let next = 1;
  const places = parts.map(({ length }): [number, number] => {
    const first = next;
    next += length;
    return [first, length];
  });
  return { bytes: Buffer.concat(parts), places };
}
