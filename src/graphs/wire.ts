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

  bytes(from: number, to: number): Buffer {
    const bytes = Buffer.allocUnsafe(to - from);
    if (readSync(this.file, bytes, 0, bytes.length, from) < bytes.length) throw new Error('it is cut off');
    return bytes;
  }
}

interface FieldPlace {
  number: number;
  tag: number;
  start: number;
  end: number;
  value: number;
}

/** One field of a protobuf message: a number, or a stretch of bytes that may be a message itself. */
export class WireField {
  /** Field number. */
  readonly number: number;
  /** Its content lies from `start` to `end` of the file. */
  readonly start: number;
  readonly end: number;
  /** Of a varint field; 0 for others. */
  readonly value: number;
  private readonly tag: number;

  private constructor(
    private readonly file: WindowedFile,
    { number, tag, start, end, value }: FieldPlace,
  ) {
    this.number = number;
    this.tag = tag;
    this.start = start;
    this.end = end;
    this.value = value;
  }

  /** Calls `read` with the whole file as one message. */
  static readFile<T>(path: string, read: (root: WireField) => T): T {
    const descriptor = openSync(path, 'r');
    try {
      const file = new WindowedFile(descriptor);
      return read(new WireField(file, { number: 0, tag: 0, start: 0, end: file.sizeBytes, value: 0 }));
    } finally {
      closeSync(descriptor);
    }
  }

  /** The fields of this message with these numbers, in order; all others are skipped. Throws on what is no protobuf. */
  *fields(...numbers: number[]): Generator<WireField> {
    for (const field of this.every()) if (numbers.includes(field.number)) yield field;
  }

  /** All fields of this message, in order. Throws on what is no protobuf. */
  *every(): Generator<WireField> {
    let at = this.start;
    while (at < this.end) {
      const tag = at;
      const { value: key, next: start } = this.varint(tag);
      const kind = key % 8;
      let value = 0;
      let from = start;
      if (kind === 5) at = start + 4;
      else if (kind === 1) at = start + 8;
      else if (kind === 0) ({ value, next: at } = this.varint(start));
      else if (kind === 2) {
        const length = this.varint(start);
        from = length.next;
        at = from + length.value;
      } else throw new Error('it is not an ONNX file');
      if (at > this.end) throw new Error('it is cut off');
      yield new WireField(this.file, { number: Math.floor(key / 8), tag, start: from, end: at, value });
    }
  }

  text(): string {
    return this.file.text(this.start, this.end);
  }

  /** Its content. */
  bytes(): Buffer {
    return this.file.bytes(this.start, this.end);
  }

  /** Tag and content, as they stand in the file. */
  whole(): Buffer {
    return this.file.bytes(this.tag, this.end);
  }

  get wholeLength(): number {
    return this.end - this.tag;
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
