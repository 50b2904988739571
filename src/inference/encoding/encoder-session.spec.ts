import { describe, expect, it } from 'vitest';
import type { Encoder, TokenRow } from './encoder.js';
import type { EncoderTurn, FromEncoder } from './encoder-protocol.js';
import { EncoderSession } from './encoder-session.js';

/** A letter is a token; a text's vector is its length. `!` breaks a run, `?` gives NaN, `#` cannot be tokenised. */
class LetterEncoder implements Encoder {
  readonly contextLength = 10;
  readonly runs: number[] = [];

  constructor(readonly batchRows = 4) {}

  tokenize(text: string, query = ''): TokenRow {
    if (text.includes('#')) throw new Error(text);
    const ids = [...query, ...text].map((letter) => letter.charCodeAt(0));
    return { ids, typeIds: ids.map(() => 0) };
  }

  async run(rows: readonly TokenRow[]): Promise<Float32Array[]> {
    this.runs.push(rows.length);
    const has = (row: TokenRow, letter: string): boolean => row.ids.includes(letter.charCodeAt(0));
    if (rows.some((row) => has(row, '!'))) throw new Error('broken');
    return rows.map((row) => Float32Array.of(has(row, '?') ? NaN : row.ids.length));
  }
}

class SessionLab {
  readonly turns: EncoderTurn[] = [];
  readonly session: EncoderSession;
  /** Turns that may begin; each takes one. */
  private gates: (() => void)[] = [];

  constructor(readonly encoder = new LetterEncoder()) {
    this.session = new EncoderSession({
      encoder,
      send: (message: FromEncoder) => {
        if (message.kind === 'turn') this.turns.push(message);
      },
      pause: () => new Promise((resolve) => this.gates.push(resolve)),
    });
  }

  ask(id: string, texts: string[], query?: string): void {
    this.session.handle({ kind: 'encode', id, request: { texts, ...(query !== undefined && { query }) } });
  }

  /** Until nothing is left to do. */
  async finish(): Promise<void> {
    while (this.gates.length > 0) {
      this.gates.splice(0).forEach((open) => open());
      await new Promise(setImmediate);
    }
  }

  results(id: string): [number, number][] {
    const own = this.turns.flatMap(({ encoded }) => encoded.filter(([request]) => request === id));
    return own.map(([, index, { values }]): [number, number] => [index, values[0]!]).sort(([a], [b]) => a - b);
  }

  failures(): unknown[] {
    return this.turns.flatMap(({ failed }) => failed.map(([id, { code, index }]) => [id, code, index]));
  }
}

describe('the loop of an encoder', () => {
  it('answers every text under its index, whatever order they ran in', async () => {
    const lab = new SessionLab();
    lab.ask('a', ['one', 'fourteen', 'x', 'three']);
    await lab.finish();
    expect(lab.results('a')).toEqual([
      [0, 3],
      [1, 8],
      [2, 1],
      [3, 5],
    ]);
  });

  it('runs requests that came meanwhile together, but one text a run where the file wants that (ENGINE 2.9)', async () => {
    for (const [batchRows, runs] of [
      [4, [1, 3]],
      [1, [1, 1, 1, 1]],
    ] as const) {
      const lab = new SessionLab(new LetterEncoder(batchRows));
      lab.ask('a', ['aaaaaaaa']);
      lab.ask('b', ['bb', 'bb']);
      lab.ask('c', ['cc']);
      await lab.finish();
      expect([...lab.encoder.runs].sort()).toEqual([...runs].sort());
      expect(lab.results('b')).toEqual([
        [0, 2],
        [1, 2],
      ]);
    }
  });

  it('tokenises a question with each text', async () => {
    const lab = new SessionLab();
    lab.ask('a', ['xx', 'xxx'], 'why');
    await lab.finish();
    expect(lab.results('a').map(([, length]) => length)).toEqual([5, 6]);
  });

  it('refuses a request with a text that is too long, empty or unreadable, and runs nothing of it', async () => {
    const lab = new SessionLab();
    lab.ask('long', ['fits', 'does not fit']);
    lab.ask('empty', ['']);
    lab.ask('unreadable', ['a', 'b', '#']);
    await lab.finish();
    expect(lab.failures()).toEqual([
      ['long', 'context_length_exceeded', 1],
      ['empty', 'invalid_value', 0],
      ['unreadable', 'invalid_value', 2],
    ]);
    expect(lab.encoder.runs).toEqual([]);
  });

  it('lets nobody fail with another: a batch that breaks is run text by text', async () => {
    const lab = new SessionLab();
    lab.ask('good', ['abc', 'def']);
    lab.ask('bad', ['ab!']);
    lab.ask('nan', ['ab?']);
    await lab.finish();
    expect(lab.results('good')).toEqual([
      [0, 3],
      [1, 3],
    ]);
    expect(lab.failures()).toEqual(
      expect.arrayContaining([
        ['bad', 'model_error', null],
        ['nan', 'model_error', null],
      ]),
    );
  });

  it('runs nothing more of a request that is cancelled', async () => {
    const lab = new SessionLab(new LetterEncoder(1));
    lab.ask('a', ['one', 'two']);
    lab.session.handle({ kind: 'cancel', id: 'a' });
    lab.ask('b', ['two']);
    await lab.finish();
    expect(lab.results('a')).toEqual([]);
    expect(lab.results('b')).toEqual([[0, 3]]);
  });
});
