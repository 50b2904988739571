import { Injectable } from '@nestjs/common';
import { sep } from 'node:path';
import { AuditLog, type AuditDetail, type Origin } from '../audit/index.js';
import type { Tx } from '../database/index.js';
import { DomainError } from '../errors/index.js';
import { filesOnDisk, findGraph, type Dtype } from './find-graph.js';
import { FolderInspector } from './folder-inspector.js';
import type { FolderInspection } from './inspect-folder.js';
import { ModelCatalogue } from './model-catalogue.js';
import { insertModel, selectModel, selectModels, updateVerdict, type ModelDraft } from './model-rows.js';
import { modelTypeOf } from './model-type.js';
import { modelExists } from './models.errors.js';
import { CAPABILITIES, refuseTaken } from './new-models.js';
import { judge } from './verdict.js';

/** A folder that was found to be a model that can be run. */
export interface ExaminedModel {
  draft: ModelDraft;
  inspection: Extract<FolderInspection, { outcome: 'read' }>;
}

export interface FolderToAdopt {
  id: string;
  /** Where its files lie now, and where they will. */
  directory: string;
  target: string;
  dtype: Dtype | null;
}

/** Models whose files the service has fetched itself: looked over first, then there and usable in one unit. */
@Injectable()
export class ModelAdoption {
  constructor(
    private readonly catalogue: ModelCatalogue,
    private readonly inspector: FolderInspector,
    private readonly audit: AuditLog,
  ) {}

  /** Throws model_exists unless the name is free, or names a model whose files lie in the folder or below. */
  async requireFree(id: string, folder: string): Promise<void> {
    const named = await this.catalogue.find(id);
    if (named === null) return;
    const isSame = named.id === id && (named.directory === folder || named.directory.startsWith(folder + sep));
    if (!isSame) throw modelExists(id);
  }

  /** Reads and hashes the files. Throws model_unsupported for what cannot be run, with the reason. */
  async examine({ id, directory, target, dtype }: FolderToAdopt, signal: AbortSignal): Promise<ExaminedModel> {
    const found = await findGraph({ directory, dtype });
    const type = await modelTypeOf(filesOnDisk(directory));
    const inspection = await this.inspector.inspect({ type, directory, graphFile: found.graphFile }, { signal });
    if (inspection.outcome !== 'read') throw unsupported(inspection.message);
    if (inspection.fault !== null) throw unsupported(inspection.fault);
    const draft: ModelDraft = {
      ...found,
      id,
      type,
      directory: target,
      activations: null,
      executionProvider: null,
      deviceId: null,
      contextLength: null,
      capabilities: CAPABILITIES[type],
      aliases: [],
      pinned: false,
      keepAliveSeconds: null,
    };
    return { draft, inspection };
  }

  /** Adds the model, or finds it there as it was left. Throws model_exists. */
  async adopt(tx: Tx, { draft, inspection }: ExaminedModel, origin: Origin, detail: AuditDetail): Promise<void> {
    const now = Date.now();
    const named = await selectModel(tx, draft.id);
    if (named?.directory !== draft.directory || named.graphFile !== draft.graphFile) {
      refuseTaken([draft.id], await selectModels(tx));
      await insertModel(tx, draft, now);
      await this.audit.record(tx, { action: 'model.registered', object: draft.id, origin, detail });
    }
    const record = await selectModel(tx, draft.id);
    if (record !== null) await updateVerdict(tx, record, judge(record, inspection, 'loading'), now);
  }
}

function unsupported(reason: string): DomainError {
  return new DomainError('model_unsupported', `The model cannot be run. ${reason}`);
}
