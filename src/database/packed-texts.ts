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
  let next = 1;
  const places = texts.map((text): [number, number] => {
    const first = next;
    const length = Buffer.byteLength(text);
    next += length;
    return [first, length];
  });
  const bytes = Buffer.allocUnsafe(next - 1);
  texts.forEach((text, i) => bytes.write(text, places[i]![0] - 1));
  return { bytes, places };
}
