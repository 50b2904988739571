import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../config/index.js';
import { JointReads, StoreReader, UnitOfWork } from '../database/index.js';
import { DomainError } from '../errors/index.js';
import { Notices } from '../notices/index.js';
import { computationOf } from './computation.js';
import type { EmbeddedModel } from './embedded-models.js';
import { FolderInspector, type InspectionOptions } from './folder-inspector.js';
import type { FolderInspection } from './inspect-folder.js';
import { toModelObject, type ModelLive, type ModelObject } from './model-object.js';
import type { ModelRecord, ModelType } from './model-record.js';
import { selectModel, selectModels, updateQuarantine, updateVerdict, upsertEmbedded } from './model-rows.js';
import {
  modelLoadFailed,
  modelNotFound,
  modelQuarantined,
  modelUnavailable,
  reasonOf,
  wrongKind,
} from './models.errors.js';
import { changes, judge, type VerdictOccasion } from './verdict.js';

/** Which models there are, and whether their files are what they were when they were registered. */
@Injectable()
export class ModelCatalogue {
  /** As read last: whether a model may be loaded is decided without a look into the store. */
  private readonly known = new Map<string, ModelRecord>();
  private readonly lookups = new JointReads<ModelRecord | null>();
  private lookAgain: (modelId: string) => Promise<void> = () => Promise.resolve();

  constructor(
    private readonly units: UnitOfWork,
    private readonly reader: StoreReader,
    private readonly notices: Notices,
    private readonly inspector: FolderInspector,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /**
   * Registers the models that are shipped with the package, or brings their rows in line with it after an update. To
   * be called at every start. A damaged model becomes broken and does not keep the service from starting.
   */
  async seed(models: readonly EmbeddedModel[]): Promise<void> {
    for (const model of models) {
      await this.units.run((tx) => upsertEmbedded(tx, model, Date.now()));
      try {
        await this.inspect(model.id, 'starting');
      } catch (error) {
        if (!(error instanceof DomainError) || error.code !== 'model_load_failed') throw error;
        this.notices.emit('model.load_failed', { model: model.id, error_code: error.code, reason: reasonOf(error) });
      }
    }
  }

  /** By id, else by alias; null if there is none. */
  find(name: string): Promise<ModelRecord | null> {
    return this.lookups.get(name, () => this.lookUp(name));
  }

  private async lookUp(name: string): Promise<ModelRecord | null> {
    const record = await selectModel(this.reader, name);
    if (record !== null) return this.remember(record);
    const models = await this.list();
    return models.find(({ aliases }) => aliases.includes(name)) ?? null;
  }

  /** By id or alias. Throws model_not_found. */
  async get(name: string): Promise<ModelRecord> {
    const record = await this.find(name);
    if (record === null) throw modelNotFound(name);
    return record;
  }

  /**
   * The model that a request names. Throws model_not_found, unsupported_value if it is of another type, and
   * model_unavailable if it is broken, and a look at its files has not found it whole again.
   */
  async usable(name: string, type: ModelType = 'llm'): Promise<ModelRecord> {
    const record = await this.get(name);
    if (record.type !== type)
      throw wrongKind(`'${record.id}' is of type ${record.type}, this needs one of type ${type}.`);
    if (isBroken(record)) return this.mended(record);
    if (record.quarantinedAt !== null) throw modelQuarantined(record.id);
    return record;
  }

  /** `look` is called when a broken model is asked for: its files may have been restored. */
  onBroken(look: (modelId: string) => Promise<void>): void {
    this.lookAgain = look;
  }

  private async mended({ id }: ModelRecord): Promise<ModelRecord> {
    await this.lookAgain(id);
    const record = await this.get(id);
    if (isBroken(record)) throw modelUnavailable(record);
    if (record.quarantinedAt !== null) throw modelQuarantined(record.id);
    return record;
  }

  /** All models, by id. */
  async list(): Promise<ModelRecord[]> {
    return (await selectModels(this.reader)).map((record) => this.remember(record));
  }

  /** The model as it was read last; null: it never was since the start. */
  remembered(id: string): ModelRecord | null {
    return this.known.get(id) ?? null;
  }

  /** Models that are to stay loaded, as far as they can be loaded. */
  rememberedPinned(): ModelRecord[] {
    return [...this.known.values()].filter(
      ({ pinned, state, quarantinedAt }) => pinned && state === 'available' && quarantinedAt === null,
    );
  }

  forget(id: string): void {
    this.known.delete(id);
  }

  /** The Model object of WIRE B2. */
  toWire(record: ModelRecord, live: ModelLive): ModelObject {
    return toModelObject(record, computationOf(record, this.config), live);
  }

  /**
   * Compares the files with the registered digest, right before they are opened. A difference makes the model broken,
   * restored files make it available again. `progress`: the share of their bytes that was read. Throws model_not_found
   * and model_load_failed.
   */
  async verify(id: string, signal: AbortSignal, progress?: (fraction: number) => void): Promise<ModelRecord> {
    const record = await this.inspect(id, 'loading', { signal, ...(progress && { progress }) });
    if (record.error !== null) throw modelLoadFailed(id, record.error.message);
    return record;
  }

  /** Remembers that the model is in quarantine, or no more, across restarts. */
  async quarantine(id: string, on: boolean): Promise<void> {
    const now = Date.now();
    await this.units.run((tx) => updateQuarantine(tx, id, on ? now : null, now));
    await this.find(id);
  }

  private async inspect(id: string, occasion: VerdictOccasion, options: InspectionOptions = {}): Promise<ModelRecord> {
    const seen = await selectModel(this.reader, id);
    if (seen === null) throw modelNotFound(id);
    const inspection = await this.inspector.inspect(seen, options).catch((error: unknown) => {
      throw modelLoadFailed(id, 'Its files could not be read.', error);
    });
    return this.settle(seen, inspection, occasion);
  }

  /** A whole model needs no write, so that a busy store does not keep it from being loaded. */
  private async settle(
    seen: ModelRecord,
    inspection: FolderInspection,
    occasion: VerdictOccasion,
  ): Promise<ModelRecord> {
    const verdict = judge(seen, inspection, occasion);
    if (!changes(seen, verdict)) return this.remember({ ...seen, ...verdict });
    const settled = await this.units.run(async (tx) => {
      const record = await selectModel(tx, seen.id);
      if (record === null) throw modelNotFound(seen.id);
      if (record.directory !== seen.directory || record.graphFile !== seen.graphFile) {
        throw modelLoadFailed(seen.id, 'Its entry changed while its files were read.');
      }
      const verdict = judge(record, inspection, occasion);
      await updateVerdict(tx, record, verdict, Date.now());
      return { ...record, ...verdict };
    });
    this.tellIfBroken(settled);
    return this.remember(settled);
  }

  private remember(record: ModelRecord): ModelRecord {
    this.known.set(record.id, record);
    return record;
  }

  private tellIfBroken({ id, error }: ModelRecord): void {
    if (error === null) return;
    this.notices.emit('model.broken', { model: id, error_code: error.code, reason: error.message });
  }
}

function isBroken({ state }: ModelRecord): boolean {
  return state === 'missing' || state === 'error';
}
