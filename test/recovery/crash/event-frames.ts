/** One whole frame of an event stream. What a cut left unfinished was never received (WHATWG server-sent events). */
export interface Frame {
  id: string | null;
  event: string | null;
  data: string;
}

/** Cuts a stream's text into frames as it comes. */
export class FrameReader {
  private rest = '';

  constructor(private readonly onFrame: (frame: Frame) => void) {}

  push(text: string): void {
    const parts = (this.rest + text).split('\n\n');
    this.rest = parts.pop() ?? '';
    for (const part of parts) {
      const frame: Frame = { id: null, event: null, data: '' };
      for (const line of part.split('\n')) {
        const [, field, value = ''] = /^([a-z]+): (.*)$/.exec(line) ?? [];
        if (field === 'id' || field === 'event' || field === 'data') frame[field] = value;
      }
      if (frame.data !== '') this.onFrame(frame);
    }
  }
}
