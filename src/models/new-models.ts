import type { ModelRecord } from './model-record.js';
import { modelExists } from './models.errors.js';

/** What models of each type are good for. */
export const CAPABILITIES: Readonly<Record<ModelRecord['type'], string[]>> = {
  llm: ['text', 'chat'],
  embedding: ['embeddings'],
  rerank: ['rerank'],
};

/** Throws model_exists where a model has one of the names already, or one stands twice. */
export function refuseTaken(names: readonly string[], models: readonly ModelRecord[]): void {
  const taken = models.flatMap(({ id, aliases }) => [id, ...aliases]);
  const twice = names.find((name, i) => taken.includes(name) || names.indexOf(name) !== i);
  if (twice !== undefined) throw modelExists(twice);
}
