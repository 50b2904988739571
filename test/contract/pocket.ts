import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../src/config/index.js';
import {
  ProcessEngine,
  type ProcessEngineOptions,
  WorkerPromptCodec,
  type ChatMessage,
  type ModelSpec,
} from '../../src/inference/index.js';
import { distEntry } from '../support/dist-entry.js';

/** The embedded model, its recorded answers, and the real engine as tests start it. */
export const POCKET: ModelSpec = {
  id: 'pocket',
  directory: join(packageRoot(), 'models/pocket'),
  graphFile: 'onnx/model.onnx',
  rows: 8,
  threads: 2,
};

/** The same model with 4 bit weights, for tests only; `registerPocketQ4` gives it to a service. */
export const POCKET_Q4: ModelSpec = { ...POCKET, id: 'pocket-q4', graphFile: 'onnx/model_q4.onnx' };

export interface GoldenCase {
  id: number;
  messages: ChatMessage[];
  tools?: object[];
  promptIds: number[];
  maxTokens: number;
  outputIds: number[];
  text: string;
}

export const GOLDEN = (
  JSON.parse(readFileSync(join(packageRoot(), 'test/fixtures/golden.json'), 'utf8')) as { cases: GoldenCase[] }
).cases;

export function realEngine(options: Partial<ProcessEngineOptions> = {}): ProcessEngine & { runnersDirectory: string } {
  const { runnersDirectory = mkdtempSync(join(tmpdir(), 'lmsp-runners-')) } = options;
  const engine = new ProcessEngine({
    stallSeconds: 30,
    maxWaiting: 64,
    ...options,
    runnersDirectory,
    entry: distEntry('inference/onnx/runner-main.js'),
  });
  return Object.assign(engine, { runnersDirectory });
}

export function realCodec(options: { timeoutMs?: number; maxWaiting?: number } = {}): WorkerPromptCodec {
  return new WorkerPromptCodec({
    workers: 1,
    timeoutMs: 10_000,
    maxWaiting: 64,
    ...options,
    entry: distEntry('inference/text/text-worker.js'),
  });
}
