import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../config/index.js';
import { INFERENCE_ENGINE, type EngineModel, type InferenceEngine } from '../inference/index.js';
import { Notices } from '../notices/index.js';
import { ModelCatalogue } from './model-catalogue.js';
import { asLoadError, reasonOf } from './models.errors.js';

/** Verifies a model's files and has the engine open them: one model at a time, since a load takes all cores and disk. */
@Injectable()
export class ModelLoader {
  private last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly catalogue: ModelCatalogue,
    @Inject(INFERENCE_ENGINE) private readonly engine: InferenceEngine,
    @Inject(CONFIG) private readonly config: Config,
    private readonly notices: Notices,
  ) {}

  /** Rejects with DomainError: model_not_found, model_load_failed, insufficient_resources. */
  open(id: string, signal: AbortSignal): Promise<EngineModel> {
    const load = this.last.then(() => this.openNow(id, signal));
    this.last = load.catch(() => undefined);
    return load;
  }

  private async openNow(id: string, signal: AbortSignal): Promise<EngineModel> {
    signal.throwIfAborted();
    const since = performance.now();
    this.notices.emit('model.loading', { model: id });
    try {
      const { directory, graphFile, digest } = await this.catalogue.verify(id, signal);
      const { maxRows, threads, batchInvariant } = this.config;
      // With 0 rows nothing is claimed, yet a model may be loaded by hand.
      const rows = Math.max(maxRows, 1);
      const spec = { id, directory, graphFile, rows, threads, digest: digest ?? '', batchInvariant };
      const model = await this.engine.open(spec, { signal });
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

  private tellLoaded(id: string, { info }: EngineModel, durationMs: number): void {
    const { kvMode, residentBytes, warnings } = info;
    this.notices.emit('model.loaded', {
      model: id,
      duration_ms: Math.round(durationMs),
      kv_mode: kvMode,
      resident_bytes: residentBytes,
    });
    for (const reason of warnings) this.notices.emit('model.warning', { model: id, reason });
  }
}
