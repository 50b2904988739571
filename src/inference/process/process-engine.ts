import type { EngineModel, EngineModelInfo, InferenceEngine, ModelSpec, OpenOptions } from '../inference-engine.js';
import { runtimeVersion } from '../onnx/runtime-version.js';
import type { FromRunner, ToRunner } from '../runner-protocol.js';
import { RunnerModel } from './runner-model.js';
import { startRunner, type RunnerStartOptions } from './runner-start.js';

export interface ProcessEngineOptions extends Omit<RunnerStartOptions, 'entry'> {
  stallSeconds: number;
  /** Generations that may wait for a row, per model. */
  maxWaiting: number;
  /** Compiled entry of the runner. */
  entry?: string | URL;
}

/** The engine strategy of the product: one child process per opened model (ENGINE 1.1). */
export class ProcessEngine implements InferenceEngine {
  readonly name = `onnxruntime-node ${runtimeVersion()}`;

  constructor(private readonly options: ProcessEngineOptions) {}

  async open(spec: ModelSpec, options: OpenOptions = {}): Promise<EngineModel> {
    const { stallSeconds, maxWaiting, entry = new URL('../onnx/runner-main.js', import.meta.url) } = this.options;
    const start = { ...this.options, entry };
    const { info, runner } = await startRunner<EngineModelInfo, ModelSpec, ToRunner, FromRunner>(spec, start, options);
    return new RunnerModel(info, runner, { stallSeconds, rows: spec.rows, maxGenerations: spec.rows + maxWaiting });
  }
}
