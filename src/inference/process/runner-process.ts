import { fork, type ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { FromRunner, ToRunner } from '../runner-protocol.js';
import { MODEST_HEAP, ONE_MALLOC_POOL } from './modest-memory.js';
import type { RunnerLink } from './runner-model.js';
import { readOutput } from './runner-output.js';

export interface RunnerProcessOptions {
  /** Compiled entry file. */
  entry: string | URL;
  /** The runner's whole environment: it inherits nothing. */
  env: Record<string, string>;
  /** A line the runner printed. */
  output(text: string): void;
}

/** onnxruntime 1.30 reports its use to its maker unless it is told not to. */
const RUNNER_ENVIRONMENT = { ORT_DISABLE_TELEMETRY: '1', ...ONE_MALLOC_POOL };

/** A runner as a child process with a message channel. */
export class RunnerProcess<To extends object = ToRunner, From = FromRunner> implements RunnerLink<To, From> {
  gone: Promise<string>;
  private readonly child: ChildProcess;

  constructor(options: RunnerProcessOptions) {
    this.child = fork(options.entry, [], {
      serialization: 'advanced',
      env: { ...RUNNER_ENVIRONMENT, ...options.env },
      execArgv: [...MODEST_HEAP],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    readOutput(this.child.stdout as Readable, (text) => options.output(text));
    readOutput(this.child.stderr as Readable, (text) => options.output(text));
    this.gone = new Promise((resolve) => {
      this.child.on('exit', (code, signal) =>
        resolve(`the runner ended with ${signal ? `signal ${signal}` : `code ${code}`}`),
      );
      // Without a process there is no exit event; with one, this is a failed send or kill, and exit follows.
      this.child.on('error', (error) => {
        if (this.child.pid === undefined) resolve(`the runner could not be started: ${error.message}`);
      });
    });
  }

  /** Runs `task` when the process has ended, before anybody learns of it. */
  atEnd(task: () => Promise<void>): void {
    this.gone = this.gone.then((how) =>
      task().then(
        () => how,
        () => how,
      ),
    );
  }

  /** Undefined when it could not be started. */
  get pid(): number | undefined {
    return this.child.pid;
  }

  send(message: To): void {
    if (this.child.connected) this.child.send(message, () => undefined);
  }

  onMessage(receive: (message: From) => void): void {
    this.child.removeAllListeners('message');
    this.child.on('message', receive as (message: unknown) => void);
  }

  kill(): void {
    if (this.child.connected) this.child.disconnect();
    this.child.kill('SIGKILL');
  }
}
