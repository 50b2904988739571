import type { FromEncoder, ToEncoder } from '../encoding/encoder-protocol.js';
import type { EncoderInfo, EncoderModel, EncoderSpec, EncodingEngine } from '../encoding/encoding-engine.js';
import type { OpenOptions } from '../inference-engine.js';
import { RunnerEncoder } from './runner-encoder.js';
import { startRunner, type RunnerStartOptions } from './runner-start.js';

export interface ProcessEncodingEngineOptions extends Omit<RunnerStartOptions, 'entry'> {
  /** An encoder with work that reports nothing for so long is ended. */
  stallSeconds: number;
  /** Compiled entry of the runner. */
  entry?: string | URL;
}

/** The encoders of the product: one child process per opened model, as for text models. */
export class ProcessEncodingEngine implements EncodingEngine {
  constructor(private readonly options: ProcessEncodingEngineOptions) {}

  async open(spec: EncoderSpec, options: OpenOptions = {}): Promise<EncoderModel> {
    const { stallSeconds, entry = new URL('../onnx/encoder-main.js', import.meta.url) } = this.options;
    const start = { ...this.options, entry };
    const { info, runner } = await startRunner<EncoderInfo, EncoderSpec, ToEncoder, FromEncoder>(spec, start, options);
    return new RunnerEncoder(info, runner, stallSeconds);
  }
}
