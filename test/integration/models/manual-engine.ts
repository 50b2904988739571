import type {
  EngineActivity,
  EncodingEngine,
  EngineModel,
  InferenceEngine,
  ModelSpec,
  OpenOptions,
  RunnerEnd,
} from '../../../src/inference/index.js';

/** A model that generates nothing: it is opened, closed and lost when the test says so. */
export class ManualModel implements EngineModel {
  readonly info = {
    contextLength: 64,
    vocabularySize: 16,
    kvMode: 'in-place' as const,
    endTokenIds: [2],
    residentBytes: 1,
    fingerprint: 'manual',
    kernelClasses: 1,
    exact: { resume: true, batchInvariant: true },
    provider: { used: 'cpu' as const, reason: null },
    digest: '',
    warnings: [] as string[],
  };
  closed = false;
  private end!: (end: RunnerEnd) => void;
  readonly gone = new Promise<RunnerEnd>((resolve) => (this.end = resolve));

  constructor(readonly incarnation: string) {}

  generate(): never {
    throw new Error('a manual model does not generate');
  }

  async activity(): Promise<EngineActivity> {
    return { rows: 0, cachedTokens: 0, cacheCapacityTokens: 64, prefixBytes: 0, residentBytes: 1, silentMs: 0 };
  }

  die(end: Partial<RunnerEnd> = {}): void {
    this.end({
      expected: false,
      message: 'killed by the test',
      stalled: false,
      blamed: false,
      progressed: false,
      ...end,
    });
  }

  async close(): Promise<void> {
    this.closed = true;
    this.end({ expected: true, message: 'closed', stalled: false, blamed: false, progressed: false });
    await this.gone;
  }
}

/** One call of `open` that waits for the test. */
export interface Opening {
  spec: ModelSpec;
  succeed(info?: Partial<ManualModel['info']>): ManualModel;
  fail(error: Error): void;
}

/** An engine whose loads end when the test says so. */
export class ManualEngine implements InferenceEngine {
  readonly name = 'manual';
  readonly openings: Opening[] = [];
  private opened = 0;

  open(spec: ModelSpec, { signal }: OpenOptions = {}): Promise<EngineModel> {
    return new Promise((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      this.openings.push({
        spec,
        fail: reject,
        succeed: (info = {}) => {
          this.opened += 1;
          const model = new ManualModel(`manual-${this.opened}`);
          Object.assign(model.info, info);
          resolve(model);
          return model;
        },
      });
    });
  }

  last(): Opening {
    const opening = this.openings.at(-1);
    if (opening === undefined) throw new Error('nothing was opened');
    return opening;
  }
}

/** For tests of text models. */
export const NO_ENCODERS: EncodingEngine = {
  open: () => Promise.reject(new Error('there are no encoders here')),
};
