import { fork, type ChildProcess } from 'node:child_process';
import { MODEST_HEAP, ONE_MALLOC_POOL } from '../process/modest-memory.js';
import type { TextJob, TextResult, ToTextWorker } from './text-protocol.js';

/** Heap of a text process, MB. */
const HEAP_MB = 512;

/**
 * A text worker as a child process and not a thread: a template is a program somebody else wrote, and one large
 * allocation in a worker thread ends the whole process in spite of the thread's heap limit.
 */
export class TextProcess {
  /** Settles with how it ended; never rejects. */
  readonly gone: Promise<string>;
  private readonly child: ChildProcess;

  constructor(entry: string | URL) {
    this.child = fork(entry, [], {
      serialization: 'advanced',
      env: { ...ONE_MALLOC_POOL },
      execArgv: [...MODEST_HEAP, `--max-old-space-size=${HEAP_MB}`],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    this.gone = new Promise((resolve) => {
      this.child.on('exit', (code, signal) => resolve(signal ? `signal ${signal}` : `code ${code}`));
      this.child.on('error', (error) => {
        if (this.child.pid === undefined) resolve(error.message);
      });
    });
  }

  /** Hands over prompts; none may be under way. `done` is called with their results unless the process ends before. */
  perform(jobs: readonly TextJob[], limitMs: number, done: (results: readonly TextResult[]) => void): void {
    this.keepAlive(true);
    this.child.once('message', (results) => {
      this.keepAlive(false);
      done(results as TextResult[]);
    });
    const message: ToTextWorker = { jobs, limitMs };
    if (this.child.connected) this.child.send(message, () => undefined);
  }

  kill(): void {
    this.child.removeAllListeners('message');
    // Whoever kills may wait for `gone`.
    this.child.ref();
    if (this.child.connected) this.child.disconnect();
    this.child.kill('SIGKILL');
  }

  /** An idle worker must not keep a process alive that has nothing else to do. */
  private keepAlive(busy: boolean): void {
    for (const handle of [this.child, this.child.channel]) {
      if (busy) handle?.ref();
      else handle?.unref();
    }
  }
}
