import type { ModelFiles } from './find-graph.js';
import type { ModelType } from './model-record.js';

/** Of sentence-transformers: a folder with one of these is an encoder. */
const ENCODER_FILES = ['modules.json', '1_Pooling/config.json', 'sentence_bert_config.json'];

/** What a model is for, as its files say. A wrong guess shows at once: the graph is held against it. */
export async function modelTypeOf(files: ModelFiles): Promise<ModelType> {
  const architectures = architecturesIn(await files.text('config.json'));
  if (architectures.some((name) => name.endsWith('ForSequenceClassification'))) return 'rerank';
  for (const file of ENCODER_FILES) if (await files.has(file)) return 'embedding';
  const isEncoder = architectures.length > 0 && architectures.every((name) => name.endsWith('Model'));
  return isEncoder && !(await files.has('generation_config.json')) ? 'embedding' : 'llm';
}

function architecturesIn(config: string | null): string[] {
  try {
    const { architectures } = JSON.parse(config ?? '{}') as { architectures?: unknown };
    return Array.isArray(architectures) ? architectures.filter((name) => typeof name === 'string') : [];
  } catch {
    return [];
  }
}
