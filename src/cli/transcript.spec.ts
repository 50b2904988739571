import { describe, expect, it } from 'vitest';
import { Transcript, type ResponseEvent } from './transcript.js';

const delta = (text: string): ResponseEvent => ({
  type: 'response.output_text.delta',
  sequence_number: 0,
  delta: text,
});
const snapshot = (text: string): ResponseEvent => ({
  type: 'response.in_progress',
  sequence_number: 0,
  response: { output: [{ content: [{ type: 'output_text', text }] }] } as unknown as ResponseEvent['response'] & object,
});

describe('the transcript of a response (WIRE B5, invariants 6 and 7)', () => {
  it('joins deltas, to which an equal snapshot adds nothing', () => {
    const transcript = new Transcript();
    const added = [snapshot(''), delta('a'), delta('b'), snapshot('ab'), delta('c')].map((event) =>
      transcript.add(event),
    );
    expect(added.map(({ text }) => text)).toEqual(['', 'a', 'b', '', 'c']);
    expect(added.some(({ isRestart }) => isRestart)).toBe(false);
  });

  it('completes the text from a snapshot that has more', () => {
    const transcript = new Transcript();
    transcript.add(delta('a'));
    expect(transcript.add(snapshot('abc'))).toEqual({ isRestart: false, text: 'bc' });
  });

  it('begins anew with a snapshot that has less or other text', () => {
    const transcript = new Transcript();
    transcript.add(delta('abc'));
    expect(transcript.add(snapshot(''))).toEqual({ isRestart: true, text: '' });
    transcript.add(delta('x'));
    expect(transcript.add(snapshot('y'))).toEqual({ isRestart: true, text: 'y' });
  });

  it('takes the first snapshot of a log that was joined late for what it missed', () => {
    const transcript = new Transcript(false);
    expect(transcript.add(delta('c')).text).toBe('c');
    expect(transcript.add(snapshot('abc'))).toEqual({ isRestart: false, text: '' });
    expect(transcript.add(snapshot('')).isRestart).toBe(true);
  });
});
