import { inspectFolder } from '../../src/models/inspect-folder.js';
import { openStore } from '../../src/database/index.js';
import { POCKET_Q4 } from '../contract/pocket.js';
import { storeOptions } from './store.js';

/**
 * Registers `pocket-q4`, the 4 bit file of the embedded model, as a model of its own in a data directory that no
 * service runs on; makes the store if there is none. On many processors 4 bit weights have two kernel classes
 * (ENGINE 2.8), which the embedded 8 bit file has not: what resumes here has to resume in its recorded classes.
 */
export async function registerPocketQ4(dataDir: string): Promise<void> {
  const files = inspectFolder({ ...POCKET_Q4, type: 'llm' });
  if (files.outcome !== 'read') throw new Error(`pocket-q4: ${files.message}`);
  const store = await openStore(storeOptions(dataDir));
  try {
    await store.units.run((tx) =>
      tx.execute(
        `INSERT INTO models (id, type, directory, graph_file, layout, activations, digest, size_bytes, state,
           context_length, capabilities, aliases, pinned, owned_by, embedded, created_at, updated_at)
         VALUES (?, 'llm', ?, ?, 'huggingface', 'file', ?, ?, 'available', ?, '["text","chat"]', '[]', 0, 'test', 0, 1, 1)`,
        [POCKET_Q4.id, POCKET_Q4.directory, POCKET_Q4.graphFile, files.digest, files.sizeBytes, files.contextLength],
      ),
    );
  } finally {
    await store.close();
  }
}
