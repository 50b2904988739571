import { join } from 'node:path';
import { Module, type DynamicModule } from '@nestjs/common';
import { CONFIG, ConfigModule, libraryEnvironment, type Config } from '../config/index.js';
import { Notices, NoticesModule } from '../notices/index.js';
import { ENCODING_ENGINE, type EncodingEngine } from './encoding/encoding-engine.js';
import { INFERENCE_ENGINE, type InferenceEngine } from './inference-engine.js';
import { ProcessEncodingEngine } from './process/process-encoding-engine.js';
import { ProcessEngine } from './process/process-engine.js';
import type { RunnerStartOptions } from './process/runner-start.js';
import { PROMPT_CODEC, type PromptCodec } from './prompt-codec.js';
import { WorkerPromptCodec } from './text/worker-prompt-codec.js';

export interface InferenceModuleOptions {
  /** Replaces the engine strategy. */
  engine?: InferenceEngine;
  encoders?: EncodingEngine;
  codec?: PromptCodec;
}

/** Folder of the data directory in which running model processes are noted. */
export function runnersDirectory(config: Config): string {
  return join(config.dataDir, 'runners');
}

/** The engines and the prompt codec; whoever stops the service closes the codec. */
@Module({})
export class InferenceModule {
  static register({ engine, encoders, codec }: InferenceModuleOptions = {}): DynamicModule {
    return {
      module: InferenceModule,
      imports: [ConfigModule, NoticesModule],
      providers: [
        {
          provide: INFERENCE_ENGINE,
          inject: [CONFIG, Notices],
          useFactory: (config: Config, notices: Notices) => engine ?? processEngine(config, notices),
        },
        {
          provide: ENCODING_ENGINE,
          inject: [CONFIG, Notices],
          useFactory: (config: Config, notices: Notices) =>
            encoders ?? new ProcessEncodingEngine(runnerOptions(config, notices)),
        },
        { provide: PROMPT_CODEC, inject: [CONFIG], useFactory: (config: Config) => codec ?? workerCodec(config) },
      ],
      exports: [INFERENCE_ENGINE, ENCODING_ENGINE, PROMPT_CODEC],
    };
  }
}

function processEngine(config: Config, notices: Notices): InferenceEngine {
  return new ProcessEngine({ ...runnerOptions(config, notices), maxWaiting: config.maxWaitingRequests });
}

function runnerOptions(config: Config, notices: Notices): Omit<RunnerStartOptions, 'entry'> & { stallSeconds: number } {
  return {
    runnersDirectory: runnersDirectory(config),
    env: libraryEnvironment(),
    stallSeconds: config.runnerStallSeconds,
    onLog: ({ modelId, pid, text }) => notices.emit('runner.log', { model: modelId, pid: pid ?? 0, line: text }),
  };
}

function workerCodec(config: Config): PromptCodec {
  return new WorkerPromptCodec({
    workers: config.textWorkers,
    timeoutMs: config.promptTimeoutMs,
    maxWaiting: config.maxWaitingRequests,
  });
}
