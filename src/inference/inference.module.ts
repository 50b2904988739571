import { join } from 'node:path';
import { Module, type DynamicModule } from '@nestjs/common';
import { CONFIG, ConfigModule, type Config } from '../config/index.js';
import { Notices, NoticesModule } from '../notices/index.js';
import { INFERENCE_ENGINE, type InferenceEngine } from './inference-engine.js';
import { ProcessEngine } from './process/process-engine.js';
import { PROMPT_CODEC, type PromptCodec } from './prompt-codec.js';
import { WorkerPromptCodec } from './text/worker-prompt-codec.js';

export interface InferenceModuleOptions {
  /** Replaces the engine strategy. */
  engine?: InferenceEngine;
  codec?: PromptCodec;
}

/** Folder of the data directory in which running model processes are noted. */
export function runnersDirectory(config: Config): string {
  return join(config.dataDir, 'runners');
}

/** The engine and the prompt codec; whoever stops the service closes the codec. */
@Module({})
export class InferenceModule {
  static register({ engine, codec }: InferenceModuleOptions = {}): DynamicModule {
    return {
      module: InferenceModule,
      imports: [ConfigModule, NoticesModule],
      providers: [
        {
          provide: INFERENCE_ENGINE,
          inject: [CONFIG, Notices],
          useFactory: (config: Config, notices: Notices) => engine ?? processEngine(config, notices),
        },
        { provide: PROMPT_CODEC, inject: [CONFIG], useFactory: (config: Config) => codec ?? workerCodec(config) },
      ],
      exports: [INFERENCE_ENGINE, PROMPT_CODEC],
    };
  }
}

function processEngine(config: Config, notices: Notices): InferenceEngine {
  return new ProcessEngine({
    runnersDirectory: runnersDirectory(config),
    stallSeconds: config.runnerStallSeconds,
    maxWaiting: config.maxWaitingRequests,
    onLog: ({ modelId, pid, text }) => notices.emit('runner.log', { model: modelId, pid: pid ?? 0, line: text }),
  });
}

function workerCodec(config: Config): PromptCodec {
  return new WorkerPromptCodec({
    workers: config.textWorkers,
    timeoutMs: config.promptTimeoutMs,
    maxWaiting: config.maxWaitingRequests,
  });
}
