import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

const WINDOW_BYTES = 65_536;
/** Longest text that is read: names and paths, never weights. */
const LONGEST_TEXT = 4096;

/** A file that is read in windows, so that weights that are skipped are never read. */
class WindowedFile {
  readonly sizeBytes: number;
  private readonly window = Buffer.alloc(WINDOW_BYTES);
  private start = 0;
  private length = 0;

  constructor(private readonly file: number) {
    this.sizeBytes = fstatSync(file).size;
  }

  byte(at: number): number {
    if (at < this.start || at >= this.start + this.length) {
      this.start = at;
      this.length = readSync(this.file, this.window, 0, WINDOW_BYTES, at);
      if (this.length === 0) throw new Error('it is cut off');
    }
    return this.window[at - this.start]!;
  }

  text(from: number, to: number): string {
    const bytes = Buffer.alloc(Math.min(to - from, LONGEST_TEXT));
    return bytes.toString('utf8', 0, readSync(this.file, bytes, 0, bytes.length, from));
  }
}

/** One field of a protobuf message: a number, or a stretch of bytes that may be a message itself. */
export class WireField {
  private constructor(
    private readonly file: WindowedFile,
    /** Field number. */
    readonly number: number,
    private readonly start: number,
    private readonly end: number,
    /** Of a varint field; 0 for others. */
    readonly value: number,
  ) {}

  /** Calls `read` with the whole file as one message. */
  static readFile<T>(path: string, read: (root: WireField) => T): T {
    const descriptor = openSync(path, 'r');
    try {
      const file = new WindowedFile(descriptor);
      return read(new WireField(file, 0, 0, file.sizeBytes, 0));
    } finally {
      closeSync(descriptor);
    }
  }

  /** The fields of this message with these numbers, in order; all others are skipped. Throws on what is no protobuf. */
  *fields(...numbers: number[]): Generator<WireField> {
    let at = this.start;
    while (at < this.end) {
      const tag = this.varint(at);
      const number = Math.floor(tag.value / 8);
      const kind = tag.value % 8;
      at = tag.next;
      if (kind === 5) at += 4;
      else if (kind === 1) at += 8;
      else if (kind === 0 || kind === 2) {
        const { value, next } = this.varint(at);
        at = kind === 0 ? next : next + value;
        if (at > this.end) throw new Error('it is cut off');
        if (!numbers.includes(number)) continue;
        yield new WireField(this.file, number, next, at, kind === 0 ? value : 0);
      } else throw new Error('it is not an ONNX file');
    }
    if (at > this.end) throw new Error('it is cut off');
  }

  text(): string {
    return this.file.text(this.start, this.end);
  }

  private varint(at: number): { value: number; next: number } {
    let value = 0;
    for (let i = 0; i < 10; i++) {
      const byte = this.file.byte(at + i);
      value += (byte & 0x7f) * 2 ** (7 * i);
      if (byte < 0x80) return { value, next: at + i + 1 };
    }
    throw new Error('it is not an ONNX file');
  }
}
