import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DomainError } from '../../errors/index.js';
import { RunnerLost, type OpenOptions } from '../inference-engine.js';
import type { OpeningMessage, OpenMessage } from '../runner-protocol.js';
import { noteRunner } from './runner-list.js';
import type { RunnerLink } from './runner-model.js';
import { RunnerProcess } from './runner-process.js';

/** A line a runner printed. Never holds prompts or outputs. */
export interface RunnerLog {
  modelId: string;
  pid: number | null;
  text: string;
}

export interface RunnerStartOptions {
  /** Folder in which running runners are noted. */
  runnersDirectory: string;
  /** The runners' whole environment. */
  env?: Record<string, string>;
  onLog?(log: RunnerLog): void;
  /** Compiled entry of the runner. */
  entry: string | URL;
}

/** Where the files of a model lie. */
interface Spec {
  id: string;
  directory: string;
  graphFile: string;
}

/** A load may take this long, plus the time to read the file from a slow disk. */
const LOAD_SECONDS = 60;
const SLOW_DISK_BYTES_PER_SECOND = 20_000_000;

/**
 * Starts a process, notes it and has it open the model; resolves once it is open. Rejects as the engines' `open`, and
 * then has ended the process.
 */
export async function startRunner<Info, S extends Spec, To extends object, From>(
  spec: S,
  start: RunnerStartOptions,
  options: OpenOptions,
): Promise<{ info: Info; runner: RunnerProcess<To | OpenMessage<S>, From | OpeningMessage<Info>> }> {
  const seconds = await loadSeconds(spec);
  const runner: RunnerProcess<To | OpenMessage<S>, From | OpeningMessage<Info>> = new RunnerProcess({
    entry: start.entry,
    env: start.env ?? {},
    output: (text) => start.onLog?.({ modelId: spec.id, pid: runner.pid ?? null, text }),
  });
  try {
    if (runner.pid !== undefined) runner.atEnd(await noteRunner(start.runnersDirectory, runner.pid));
    // While it opens a runner says nothing else.
    const opening = runner as unknown as RunnerLink<OpenMessage<S>, OpeningMessage<Info>>;
    return { info: await load(opening, spec, options, seconds), runner };
  } catch (error) {
    runner.kill();
    await runner.gone;
    throw error instanceof DomainError ? error : notNoted(error as NodeJS.ErrnoException);
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

async function loadSeconds(spec: Spec): Promise<number> {
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
async function load<Info, S extends Spec>(
  runner: RunnerLink<OpenMessage<S>, OpeningMessage<Info>>,
  spec: S,
  options: OpenOptions,
  seconds: number,
): Promise<Info> {
  const { signal } = options;
  let timer: NodeJS.Timeout | undefined;
  let abort = (): void => undefined;
  try {
    return await new Promise<Info>((resolve, reject) => {
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
