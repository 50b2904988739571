import type { Encoded, EncoderInfo, EncoderModel, EncodingEngine, EncodingRequest } from '../../src/inference/index.js';

interface HeldRequest {
  request: EncodingRequest;
  signal: AbortSignal;
  finish(): void;
}

/** Encoders that answer when the test says so: each text becomes the vector [1, 0]. */
export class HeldEncoders implements EncodingEngine {
  /** Under way. */
  readonly requests: HeldRequest[] = [];

  constructor(private readonly residentBytes = 1) {}

  async open(): Promise<EncoderModel> {
    return new HeldEncoder(this.requests, this.residentBytes);
  }
}

class HeldEncoder implements EncoderModel {
  readonly info: EncoderInfo = {
    contextLength: 8,
    dimensions: 2,
    shorterDimensions: null,
    normalized: true,
    batchRows: 1,
    residentBytes: 1,
    exact: null,
    provider: { used: 'cpu', reason: null },
    warnings: [],
  };
  private end!: () => void;
  readonly gone = new Promise<void>((resolve) => (this.end = resolve)).then(() => ({
    expected: true,
    stalled: false,
    message: 'closed',
    blamed: false,
    progressed: false,
  }));

  constructor(
    private readonly requests: HeldRequest[],
    residentBytes: number,
  ) {
    this.info.residentBytes = residentBytes;
  }

  encode(request: EncodingRequest, signal: AbortSignal): Promise<Encoded[]> {
    return new Promise((resolve, reject) => {
      const held: HeldRequest = { request, signal, finish: () => resolve(this.vectors(request)) };
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      this.requests.push(held);
    });
  }

  async activity() {
    return {
      rows: 0,
      cachedTokens: 0,
      cacheCapacityTokens: 0,
      prefixBytes: 0,
      residentBytes: this.info.residentBytes,
      silentMs: 0,
    };
  }

  async close(): Promise<void> {
    this.end();
    await this.gone;
  }

  private vectors({ texts }: EncodingRequest): Encoded[] {
    return texts.map(() => ({ values: Float32Array.of(1, 0), tokens: 1 }));
  }
}
