import { describe, expect, it, vi } from 'vitest';
import { SharedFrames } from './event-frame.js';

interface Told {
  number: number;
  text: string;
}

const EVENTS: Told[] = [
  { number: 0, text: '{"delta":"größe"}' },
  { number: 1, text: '{"delta":"😀"}' },
];

async function* told(events: Told[]): AsyncGenerator<Told> {
  for (const event of events) yield await Promise.resolve(event);
}

async function read(frames: AsyncIterable<Buffer>): Promise<Buffer[]> {
  const all: Buffer[] = [];
  for await (const frame of frames) all.push(frame);
  return all;
}

describe('frames that many readers share', () => {
  it('puts an event into bytes once, however many read it', async () => {
    const frameOf = vi.fn(({ number, text }: Told) => ({ id: number, event: 'delta', data: text }));
    const frames = new SharedFrames(frameOf);
    const readers = await Promise.all([1, 2, 3].map(() => read(frames.of(told(EVENTS)))));
    expect(frameOf).toHaveBeenCalledTimes(EVENTS.length);
    for (const reader of readers) reader.forEach((frame, i) => expect(frame).toBe(readers[0]![i]));
    expect(Buffer.concat(readers[0]!).toString()).toBe(
      'id: 0\nevent: delta\ndata: {"delta":"größe"}\n\nid: 1\nevent: delta\ndata: {"delta":"😀"}\n\n',
    );
  });

  it('keeps forms apart', async () => {
    const numbered = new SharedFrames(({ number, text }: Told) => ({ id: number, data: text }));
    const bare = new SharedFrames(({ text }: Told) => ({ data: text }));
    const [first] = await read(numbered.of(told(EVENTS)));
    const [other] = await read(bare.of(told(EVENTS)));
    expect([first, other].map(String)).toEqual(['id: 0\ndata: {"delta":"größe"}\n\n', 'data: {"delta":"größe"}\n\n']);
  });
});
