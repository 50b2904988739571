import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../config/index.js';
import {
  ENCODING_ENGINE,
  INFERENCE_ENGINE,
  type EncodingEngine,
  type InferenceEngine,
  type OpenedModel,
} from '../inference/index.js';
import { Notices } from '../notices/index.js';
import { computationOf } from './computation.js';
import { ModelCatalogue } from './model-catalogue.js';
import type { ModelRecord } from './model-record.js';
import { asLoadError, reasonOf } from './models.errors.js';

/** Share of a load that the check of the files is taken for; the rest is the process that opens them. */
const HASHING = 0.5;

/** Of the memory for all models: what is kept for speed alone must not crowd out what is loaded. */
const LARGEST_PREFIX_CACHE = 1 / 8;

interface LoadOptions {
  signal: AbortSignal;
  /** 0..1; never less than before. */
  progress: (fraction: number) => void;
}

/** Verifies a model's files and has the engine open them: one model at a time, since a load takes all cores and disk. */
@Injectable()
export class ModelLoader {
  private last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly catalogue: ModelCatalogue,
    @Inject(INFERENCE_ENGINE) private readonly engine: InferenceEngine,
    @Inject(CONFIG) private readonly config: Config,
    private readonly notices: Notices,
    @Inject(ENCODING_ENGINE) private readonly encoders: EncodingEngine,
  ) {}

  /** Rejects with DomainError: model_not_found, model_load_failed, insufficient_resources. */
  open(id: string, options: LoadOptions): Promise<OpenedModel> {
    const load = this.last.then(() => this.openNow(id, options));
    this.last = load.catch(() => undefined);
    return load;
  }

  private async openNow(id: string, { signal, progress }: LoadOptions): Promise<OpenedModel> {
    signal.throwIfAborted();
    const since = performance.now();
    this.notices.emit('model.loading', { model: id });
    try {
      const record = await this.catalogue.verify(id, signal, (done) => progress(done * HASHING));
      const model = await this.openVerified(record, {
        signal,
        progress: (done) => progress(HASHING + done * (1 - HASHING)),
      });
      this.tellLoaded(id, model, performance.now() - since);
      return model;
    } catch (cause) {
      const error = asLoadError(id, cause);
      if (!signal.aborted) {
        this.notices.emit('model.load_failed', { model: id, error_code: error.code, reason: reasonOf(error) });
      }
      throw error;
    }
  }

  private openVerified(record: ModelRecord, options: LoadOptions): Promise<OpenedModel> {
    const { id, type, directory, graphFile, digest, contextLength } = record;
    const { maxRows, threads, batchInvariant, modelMemoryBytes, stepGatherMs: gatherMs } = this.config;
    const computation = computationOf(record, this.config);
    if (type !== 'llm') {
      const spec = { id, task: type, directory, graphFile, contextLength, threads, ...computation };
      return this.encoders.open(spec, options);
    }
    // With 0 rows nothing is claimed, yet a model may be loaded by hand.
    const rows = Math.max(maxRows, 1);
    const spec = { id, directory, graphFile, contextLength, rows, threads, digest: digest ?? '', batchInvariant };
    const prefixCacheBytes = Math.min(
      this.config.prefixCacheBytes,
      Math.floor(modelMemoryBytes * LARGEST_PREFIX_CACHE),
    );
    return this.engine.open({ ...spec, ...computation, prefixCacheBytes, gatherMs }, options);
  }

  private tellLoaded(id: string, { info }: OpenedModel, durationMs: number): void {
    const { residentBytes, warnings } = info;
    this.notices.emit('model.loaded', {
      model: id,
      duration_ms: Math.round(durationMs),
      kv_mode: 'kvMode' in info ? String(info.kvMode) : 'none',
      resident_bytes: residentBytes,
    });
    for (const reason of warnings) this.notices.emit('model.warning', { model: id, reason });
  }
}
