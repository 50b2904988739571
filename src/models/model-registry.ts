import { Injectable } from '@nestjs/common';
import { AuditLog, type Origin } from '../audit/index.js';
import { UnitOfWork, type Tx } from '../database/index.js';
import { findGraph, type FolderRequest } from './find-graph.js';
import { ModelCatalogue } from './model-catalogue.js';
import { ModelRechecks } from './model-rechecks.js';
import type { ModelRecord } from './model-record.js';
import { ModelResidency } from './model-residency.js';
import { deleteModel, insertModel, selectModel, selectModels, type ModelDraft } from './model-rows.js';
import { modelEmbedded, modelInUse, modelNotFound } from './models.errors.js';
import { CAPABILITIES, refuseTaken } from './new-models.js';

/** What a caller decides about a model; the rest is in its folder. */
export type Registration = Omit<ModelDraft, 'layout' | 'dtype' | 'graphFile' | 'capabilities'> & FolderRequest;

/** Whether work that is not done needs the model. */
export type UseOfModel = (tx: Tx, modelId: string) => Promise<boolean>;

/** Models that a person adds to the service and takes away again; their files are never written (WIRE B2). */
@Injectable()
export class ModelRegistry {
  private readonly uses: UseOfModel[] = [];
  private verifying: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly units: UnitOfWork,
    private readonly audit: AuditLog,
    private readonly catalogue: ModelCatalogue,
    private readonly residency: ModelResidency,
    rechecks: ModelRechecks,
  ) {
    catalogue.onBroken((id) => rechecks.ask(id, () => this.verify(id)));
  }

  /** No model is deleted while one of these says that it is needed. */
  keepWhile(use: UseOfModel): void {
    this.uses.push(use);
  }

  /**
   * Adds a model, not yet verified; its files are read and hashed behind the answer. Throws invalid_value for a folder
   * without a graph, and model_exists.
   */
  async register(registration: Registration, origin: Origin): Promise<ModelRecord> {
    const found = await findGraph(registration);
    const draft: ModelDraft = { ...registration, ...found, capabilities: CAPABILITIES[registration.type] };
    await this.units.run(async (tx) => {
      refuseTaken([draft.id, ...draft.aliases], await selectModels(tx));
      await insertModel(tx, draft, Date.now());
      const { type, layout, dtype, graphFile: graph_file } = draft;
      const detail = { type, layout, dtype, graph_file };
      await this.audit.record(tx, { action: 'model.registered', object: draft.id, origin, detail });
    });
    const record = await this.catalogue.get(draft.id);
    this.verifyBehind(draft.id);
    return record;
  }

  /** Verifies what a former process was in the middle of. */
  async resume(): Promise<void> {
    for (const { id, state } of await this.catalogue.list()) if (state === 'verifying') this.verifyBehind(id);
  }

  /** Throws model_not_found, and model_in_use: embedded, loading, or needed by work that is not done. */
  async delete(name: string, origin: Origin): Promise<string> {
    const { id, embedded } = await this.catalogue.get(name);
    if (embedded) throw modelEmbedded(id);
    await this.residency.remove(id, () => this.units.run((tx) => this.deleteRow(tx, id, origin)));
    this.catalogue.forget(id);
    return id;
  }

  private async deleteRow(tx: Tx, id: string, origin: Origin): Promise<void> {
    if ((await selectModel(tx, id)) === null) throw modelNotFound(id);
    for (const use of this.uses) if (await use(tx, id)) throw modelInUse(id);
    await deleteModel(tx, id);
    await this.audit.record(tx, { action: 'model.deleted', object: id, origin });
  }

  /** One after the other. What is wrong with the files stands in the model's row; a stop or a deletion is no fault. */
  private verifyBehind(id: string): void {
    void this.verify(id);
  }

  private verify(id: string): Promise<unknown> {
    const verify = async (): Promise<void> => {
      const { pinned } = await this.catalogue.verify(id, this.residency.stopSignal);
      if (pinned) void this.residency.loadPinned();
    };
    this.verifying = this.verifying.then(verify).catch(() => undefined);
    return this.verifying;
  }
}
