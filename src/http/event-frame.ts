/** One server-sent event, of a type or of none. `data` is one line of text: JSON has no raw line breaks. */
export interface EventFrame {
  event?: string;
  data: string;
  /** Sent as `id:` where the client resumes by Last-Event-ID. */
  id?: number;
}

/** As a stream sends it. */
export function frameText({ id, event, data }: EventFrame): string {
  const head = `${id === undefined ? '' : `id: ${id}\n`}${event === undefined ? '' : `event: ${event}\n`}`;
  return `${head}data: ${data}\n\n`;
}

/** Frames of one form. An event that many read at the same time is put into bytes once, and all of them get these. */
export class SharedFrames<E extends object> {
  private readonly made = new WeakMap<E, Buffer>();

  constructor(private readonly frameOf: (event: E) => EventFrame) {}

  async *of(events: AsyncIterable<E>): AsyncGenerator<Buffer> {
    for await (const event of events) yield this.bytesOf(event);
  }

  private bytesOf(event: E): Buffer {
    const known = this.made.get(event);
    if (known !== undefined) return known;
    const bytes = Buffer.from(frameText(this.frameOf(event)));
    this.made.set(event, bytes);
    return bytes;
  }
}
