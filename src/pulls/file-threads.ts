import { Worker } from 'node:worker_threads';
import type { FileAnswer, FileJob } from './file-work.js';
import type { FileDigest } from './model-source.js';

/** Hashes and reads large files in threads of their own, so that the event loop stays free (invariant 11). */
export class FileThreads {
  /** `entry`: the compiled file-worker. */
  constructor(private readonly entry: URL | string = new URL('./file-worker.js', import.meta.url)) {}

  async digest(path: string, algorithm: FileDigest['algorithm'], signal: AbortSignal): Promise<string> {
    const answer = await this.ask({ kind: 'digest', path, algorithm }, signal);
    if (!('digest' in answer)) throw new Error('the thread gave no digest');
    return answer.digest;
  }

  /** Null for what is no graph. */
  async weightsOf(path: string, signal: AbortSignal): Promise<string[] | null> {
    const answer = await this.ask({ kind: 'weights', path }, signal);
    return 'weights' in answer ? answer.weights : null;
  }

  private async ask(job: FileJob, signal: AbortSignal): Promise<FileAnswer> {
    signal.throwIfAborted();
    const worker = new Worker(this.entry, { workerData: job });
    const abort = (): void => void worker.terminate();
    signal.addEventListener('abort', abort, { once: true });
    try {
      return await answerOf(worker);
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    } finally {
      signal.removeEventListener('abort', abort);
      await worker.terminate();
    }
  }
}

function answerOf(worker: Worker): Promise<FileAnswer> {
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`the thread ended without an answer (exit code ${code})`)));
  });
}
