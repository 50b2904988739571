import { randomUUID } from 'node:crypto';
import { DomainError, ServiceStopping } from '../../errors/index.js';
import type { EncoderTurn, FromEncoder, ToEncoder } from '../encoding/encoder-protocol.js';
import {
  TextRefused,
  type Encoded,
  type EncoderInfo,
  type EncoderModel,
  type EncodingRequest,
} from '../encoding/encoding-engine.js';
import type { EngineActivity, RunnerEnd } from '../inference-engine.js';
import { residentBytesOf } from './resident-memory.js';
import type { RunnerLink } from './runner-model.js';
import { Watchdog } from './watchdog.js';

/** A request that waits for its results. */
interface Live {
  results: Encoded[];
  missing: number;
  resolve(results: Encoded[]): void;
  reject(reason: Error): void;
}

/** The service's side of an opened encoder: sends requests, gathers their results, watches for silence. */
export class RunnerEncoder implements EncoderModel {
  readonly gone: Promise<RunnerEnd>;
  private readonly live = new Map<string, Live>();
  private readonly watchdog: Watchdog;
  private lost: string | null = null;
  private closing = false;
  private stalled = false;
  private progressed = false;

  constructor(
    readonly info: EncoderInfo,
    private readonly link: RunnerLink<ToEncoder, FromEncoder>,
    private readonly stallSeconds: number,
  ) {
    this.watchdog = new Watchdog(stallSeconds * 1000, () => {
      this.stalled = true;
      link.kill();
    });
    link.onMessage((message) => {
      if (message.kind === 'turn') this.receive(message);
    });
    this.gone = link.gone.then((how) => this.lose(how));
  }

  async encode(request: EncodingRequest, signal: AbortSignal): Promise<Encoded[]> {
    signal.throwIfAborted();
    if (this.lost !== null) throw this.lossError(this.lost);
    if (request.texts.length === 0) return [];
    const id = randomUUID();
    let abort = (): void => undefined;
    try {
      return await new Promise<Encoded[]>((resolve, reject) => {
        abort = () => {
          this.send({ kind: 'cancel', id });
          reject(signal.reason as Error);
        };
        signal.addEventListener('abort', abort, { once: true });
        this.live.set(id, { results: [], missing: request.texts.length, resolve, reject });
        this.send({ kind: 'encode', id, request });
      });
    } finally {
      signal.removeEventListener('abort', abort);
      this.live.delete(id);
    }
  }

  /** Rows are requests here: what runs together changes from turn to turn. */
  async activity(): Promise<EngineActivity> {
    return {
      rows: this.live.size,
      cachedTokens: 0,
      prefixBytes: 0,
      cacheCapacityTokens: 0,
      residentBytes: (await residentBytesOf(this.link.pid)) ?? this.info.residentBytes,
      silentMs: this.watchdog.silence,
    };
  }

  async close(): Promise<void> {
    this.closing = true;
    this.link.kill();
    await this.gone;
  }

  private send(message: ToEncoder): void {
    if (this.lost !== null) return;
    this.watchdog.expect();
    this.link.send(message);
  }

  private receive({ encoded, failed }: EncoderTurn): void {
    for (const [id, index, result] of encoded) this.take(id, index, result);
    for (const [id, { code, message, index }] of failed) {
      const error = index === null ? new DomainError(code, message) : new TextRefused(code, message, index);
      this.live.get(id)?.reject(error);
      this.live.delete(id);
    }
    this.watchdog.heard(this.live.size > 0);
  }

  private take(id: string, index: number, result: Encoded): void {
    const request = this.live.get(id);
    if (request === undefined) return;
    request.results[index] = result;
    request.missing -= 1;
    if (request.missing > 0) return;
    this.progressed = true;
    request.resolve(request.results);
    this.live.delete(id);
  }

  private lose(how: string): RunnerEnd {
    this.watchdog.stop();
    const message = this.stalled ? `the runner made no progress for ${this.stallSeconds} s and was ended` : how;
    this.lost = message;
    // Alone with a request it died of that request.
    const blamed = this.live.size === 1;
    for (const request of this.live.values()) request.reject(this.lossError(message));
    this.live.clear();
    return { expected: this.closing, stalled: this.stalled, message, blamed, progressed: this.progressed };
  }

  private lossError(message: string): DomainError {
    return this.closing
      ? new ServiceStopping()
      : new DomainError('model_error', `The model's process is gone: ${message}.`);
  }
}
