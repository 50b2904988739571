import type { Encoder, TokenRow } from './encoder.js';
import { EncoderQueue, type QueuedText } from './encoder-queue.js';
import type { EncoderTurn, EncodingFailure, FromEncoder, ToEncoder } from './encoder-protocol.js';
import type { Encoded, EncodingRequest } from './encoding-engine.js';

/** Bounds a run, and with it the wait of a cancel and of the other requests. */
const BATCH_TOKENS = 1024;
/** Characters that are tokenised between two runs, where a single text is not longer. */
const READ_CHARACTERS = 20_000;

/** A request whose texts are being tokenised. */
interface Reading {
  id: string;
  request: EncodingRequest;
  rows: TokenRow[];
}

export interface EncoderSessionOptions {
  encoder: Encoder;
  send(message: FromEncoder): void;
  /** Awaited between turns; must let the event loop take in messages. */
  pause(): Promise<void>;
}

/**
 * The runner's side of an encoder: requests in, turns while there is work, results out. A turn tokenises some texts
 * and runs one batch; what arrives while a batch runs forms the next, so that no request waits for company.
 */
export class EncoderSession {
  /** By turn. */
  private readonly reading = new Map<string, Reading>();
  private readonly queue = new EncoderQueue();
  private working = false;

  constructor(private readonly options: EncoderSessionOptions) {}

  handle(message: Exclude<ToEncoder, { kind: 'open' }>): void {
    const { id } = message;
    if (message.kind === 'cancel') this.drop(id);
    else this.reading.set(id, { id, request: message.request, rows: [] });
    void this.work();
  }

  private async work(): Promise<void> {
    if (this.working) return;
    this.working = true;
    for (;;) {
      await this.options.pause();
      if (this.reading.size === 0 && this.queue.isEmpty) break;
      const turn: EncoderTurn = { encoded: [], failed: [] };
      this.read(turn);
      await this.run(turn);
      this.options.send({ kind: 'turn', ...turn });
    }
    this.working = false;
  }

  private drop(id: string): void {
    this.reading.delete(id);
    this.queue.drop(id);
  }

  /** As much as a turn may take; what is not through stands behind the others then. */
  private read(turn: EncoderTurn): void {
    let left = READ_CHARACTERS;
    while (left > 0) {
      const [reading] = this.reading.values();
      if (reading === undefined) return;
      this.reading.delete(reading.id);
      left -= this.readSome(reading, left, turn);
    }
  }

  /** Nothing of a request runs before all its texts are known to fit. Returns the characters it read. */
  private readSome(reading: Reading, left: number, turn: EncoderTurn): number {
    const { id, request, rows } = reading;
    let characters = 0;
    while (rows.length < request.texts.length && characters < left) {
      const text = request.texts[rows.length]!;
      // Each text costs something, an empty one too.
      characters += 1 + text.length + (request.query?.length ?? 0);
      const row = this.tokenized(text, request.query);
      if ('code' in row) {
        turn.failed.push([id, { ...row, index: rows.length }]);
        return characters;
      }
      rows.push(row);
    }
    if (rows.length === request.texts.length) this.queue.add(id, rows);
    else this.reading.set(id, reading);
    return characters;
  }

  private tokenized(text: string, query: string | undefined): TokenRow | Omit<EncodingFailure, 'index'> {
    const { encoder } = this.options;
    try {
      const row = encoder.tokenize(text, query);
      const tokens = row.ids.length;
      if (tokens === 0) return { code: 'invalid_value', message: 'The text has no tokens.' };
      if (tokens <= encoder.contextLength) return row;
      const message = `The text has ${tokens} tokens; this model takes in ${encoder.contextLength} at most.`;
      return { code: 'context_length_exceeded', message };
    } catch {
      // What a tokenizer throws may quote the text.
      return { code: 'invalid_value', message: 'The text cannot be tokenised.' };
    }
  }

  private async run(turn: EncoderTurn): Promise<void> {
    const batch = this.queue.next({ rows: this.options.encoder.batchRows, tokens: BATCH_TOKENS });
    if (batch.length === 0) return;
    if (await this.encode(batch, turn)) return;
    // Whoever is to blame, the others must not fail with it.
    for (const text of batch) {
      if (batch.length > 1 && (await this.encode([text], turn))) continue;
      this.drop(text.request);
      turn.failed.push([
        text.request,
        { code: 'model_error', message: 'The model gave no usable result.', index: null },
      ]);
    }
  }

  /** False: the run failed, or what it gave is not a number. */
  private async encode(batch: readonly QueuedText[], turn: EncoderTurn): Promise<boolean> {
    const vectors = await this.options.encoder.run(batch.map(({ row }) => row)).catch(() => []);
    const usable = vectors.length === batch.length && vectors.every((values) => values.every(Number.isFinite));
    if (!usable) return false;
    batch.forEach(({ request, index, row }, i) => {
      const encoded: Encoded = { values: vectors[i]!, tokens: row.ids.length };
      turn.encoded.push([request, index, encoded]);
    });
    return true;
  }
}
