import { Worker } from 'node:worker_threads';
import type { FolderInspection, FolderToInspect } from './inspect-folder.js';
import type { InspectionMessage } from './inspection-worker.js';

export interface InspectionOptions {
  signal?: AbortSignal;
  /** The share of all bytes that was read, 0..1. */
  progress?: (fraction: number) => void;
}

/** Inspects model folders in threads of their own: gigabytes are hashed while the event loop stays free. */
export class FolderInspector {
  /** `entry`: the compiled inspection-worker. */
  constructor(private readonly entry: URL | string = new URL('./inspection-worker.js', import.meta.url)) {}

  /** Rejects with the signal's reason when aborted, else with whatever stopped the thread (e.g. a read error). */
  async inspect(folder: FolderToInspect, { signal, progress }: InspectionOptions = {}): Promise<FolderInspection> {
    signal?.throwIfAborted();
    const { type, directory, graphFile } = folder;
    const worker = new Worker(this.entry, { workerData: { type, directory, graphFile } });
    const abort = (): void => void worker.terminate();
    signal?.addEventListener('abort', abort, { once: true });
    try {
      return await answerOf(worker, progress);
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    } finally {
      signal?.removeEventListener('abort', abort);
      await worker.terminate();
    }
  }
}

function answerOf(worker: Worker, progress?: (fraction: number) => void): Promise<FolderInspection> {
  return new Promise((resolve, reject) => {
    worker.on('message', (message: InspectionMessage) => {
      if (message.kind === 'inspected') resolve(message.inspection);
      else progress?.(message.fraction);
    });
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`the inspection ended without an answer (exit code ${code})`)));
  });
}
