import type { TokenDecoder } from '../inference/generation/text-assembler.js';

export const END_ID = 0;

/** Ids of pieces, given out as they are first seen; 0 is the end token. */
export class FakeVocabulary implements TokenDecoder {
  readonly endTokenIds = new Set([END_ID]);
  readonly hiddenTokenIds = new Set([END_ID]);
  private readonly ids = new Map<string, number>();
  private readonly pieces: Buffer[] = [Buffer.alloc(0)];

  constructor(readonly size: number) {}

  decode = (ids: number[]): string =>
    new TextDecoder('utf-8', { ignoreBOM: true }).decode(Buffer.concat(ids.map((id) => this.pieces[id]!)));

  idOf(piece: string | Uint8Array): number {
    const bytes = Buffer.from(piece as string);
    const key = bytes.toString('hex');
    const known = this.ids.get(key);
    if (known !== undefined) return known;
    if (this.pieces.length >= this.size) throw new Error('the script has more different pieces than the vocabulary');
    this.ids.set(key, this.pieces.length);
    return this.pieces.push(bytes) - 1;
  }
}
