import { join } from 'node:path';
import { packageRoot } from '../config/index.js';
import type { ModelRecord } from './model-record.js';

/** A model that is shipped with the package, as far as its files do not say it themselves. */
export type EmbeddedModel = Pick<ModelRecord, 'id' | 'type' | 'directory' | 'graphFile' | 'capabilities' | 'aliases'>;

/** The embedded models with their folders in the package. */
export function embeddedModels(folder = join(packageRoot(), 'models')): EmbeddedModel[] {
  return [
    {
      id: 'pocket',
      type: 'llm',
      directory: join(folder, 'pocket'),
      graphFile: 'onnx/model.onnx',
      capabilities: ['text', 'chat'],
      aliases: [],
    },
    {
      id: 'pocket-embed',
      type: 'embedding',
      directory: join(folder, 'pocket-embed'),
      graphFile: 'onnx/model.onnx',
      capabilities: ['embeddings'],
      aliases: [],
    },
  ];
}
