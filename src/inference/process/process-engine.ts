import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DomainError } from '../../errors/index.js';
import {
  RunnerLost,
  type EngineModel,
  type EngineModelInfo,
  type InferenceEngine,
  type ModelSpec,
  type OpenOptions,
} from '../inference-engine.js';
import { runtimeVersion } from '../onnx/runtime-version.js';
import { noteRunner } from './runner-list.js';
import { RunnerModel } from './runner-model.js';
import { RunnerProcess } from './runner-process.js';

/** A line a runner printed. Never holds prompts or outputs. */
export interface RunnerLog {
  modelId: string;
  pid: number | null;
  text: string;
}

export interface ProcessEngineOptions {
  /** Folder in which running runners are noted. */
  runnersDirectory: string;
  stallSeconds: number;
  /** Generations that may wait for a row, per model. */
  maxWaiting: number;
  /** The runners' whole environment. */
  env?: Record<string, string>;
  onLog?(log: RunnerLog): void;
  /** Compiled entry of the runner. */
  entry?: string | URL;
}

/** A load may take this long, plus the time to read the file from a slow disk. */
const LOAD_SECONDS = 60;
const SLOW_DISK_BYTES_PER_SECOND = 20_000_000;

/** The engine strategy of the product: one child process per opened model (ENGINE 1.1). */
export class ProcessEngine implements InferenceEngine {
  readonly name = `onnxruntime-node ${runtimeVersion()}`;

  constructor(private readonly options: ProcessEngineOptions) {}

  async open(spec: ModelSpec, options: OpenOptions = {}): Promise<EngineModel> {
    const seconds = await loadSeconds(spec);
    const runner = this.start(spec);
    try {
      await this.note(runner);
      const info = await load(runner, spec, options, seconds);
      return new RunnerModel(info, runner, {
        stallSeconds: this.options.stallSeconds,
        rows: spec.rows,
        maxGenerations: spec.rows + this.options.maxWaiting,
      });
    } catch (error) {
      runner.kill();
      await runner.gone;
      throw error instanceof DomainError ? error : notNoted(error as NodeJS.ErrnoException);
    }
  }

  private start(spec: ModelSpec): RunnerProcess {
    const runner: RunnerProcess = new RunnerProcess({
      entry: this.options.entry ?? new URL('../onnx/runner-main.js', import.meta.url),
      env: this.options.env ?? {},
      output: (text) => this.options.onLog?.({ modelId: spec.id, pid: runner.pid ?? null, text }),
    });
    return runner;
  }

  private async note(runner: RunnerProcess): Promise<void> {
    if (runner.pid === undefined) return;
    runner.atEnd(await noteRunner(this.options.runnersDirectory, runner.pid));
  }
}

/** The only thing a load writes is the note of its process. */
function notNoted(cause: NodeJS.ErrnoException): DomainError {
  const full = cause.code === 'ENOSPC' || cause.code === 'EDQUOT';
  return new DomainError(
    full ? 'storage_full' : 'model_load_failed',
    full ? 'The disk of the data directory is full; free some space.' : `the runner cannot be noted: ${cause.message}`,
    { cause },
  );
}

async function loadSeconds(spec: ModelSpec): Promise<number> {
  const graph = join(spec.directory, spec.graphFile);
  const sizes = await Promise.all(
    [graph, `${graph}_data`].map((file) =>
      stat(file).then(
        (found) => found.size,
        () => 0,
      ),
    ),
  );
  return LOAD_SECONDS + (sizes[0]! + sizes[1]!) / SLOW_DISK_BYTES_PER_SECOND;
}

/** The handshake: `open` goes out, progress comes back, then ready or refused. */
async function load(
  runner: RunnerProcess,
  spec: ModelSpec,
  options: OpenOptions,
  seconds: number,
): Promise<EngineModelInfo> {
  const { signal } = options;
  let timer: NodeJS.Timeout | undefined;
  let abort = (): void => undefined;
  try {
    return await new Promise<EngineModelInfo>((resolve, reject) => {
      const refuse = (message: string): void => reject(new DomainError('model_load_failed', message));
      abort = () => refuse('the load was given up');
      timer = setTimeout(() => refuse(`the load took longer than ${Math.round(seconds)} s`), seconds * 1000);
      signal?.addEventListener('abort', abort, { once: true });
      if (signal?.aborted) abort();
      void runner.gone.then((how) => reject(new RunnerLost(how)));
      runner.onMessage((message) => {
        if (message.kind === 'progress') options.progress?.(message.fraction);
        else if (message.kind === 'ready') resolve(message.info);
        else if (message.kind === 'refused') refuse(message.message);
      });
      runner.send({ kind: 'open', spec });
    });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}
