export { AwaitedEngine } from './awaited-engine.js';
export {
  INFERENCE_ENGINE,
  type Activations,
  type EngineActivity,
  type EngineModel,
  type EngineModelInfo,
  type ExactPromises,
  type FinishReason,
  type Generation,
  type GenerationEnd,
  type GenerationListener,
  type GenerationRequest,
  type GenerationStep,
  type InferenceEngine,
  type KernelClass,
  type LoggedToken,
  type ModelSpec,
  type OpenedModel,
  type OpenOptions,
  type ReplayedStep,
  RunnerLost,
  type RunnerEnd,
  type SamplingParameters,
  type StepLogprobs,
  type TokenLogprob,
} from './inference-engine.js';
export {
  type ConstrainedFunction,
  type JsonConstraint,
  type OutputConstraint,
  type ToolCallForm,
} from './output-constraint.js';
export {
  EXECUTION_PROVIDERS,
  type ExecutionProvider,
  type ProviderChoice,
  type ProviderUse,
} from './execution-provider.js';
export { PROMPT_CODEC, type ChatMessage, type ChatSyntax, type EncodedChat, type PromptCodec } from './prompt-codec.js';
export {
  ENCODING_ENGINE,
  TextRefused,
  type Encoded,
  type EncoderInfo,
  type EncoderModel,
  type EncoderSpec,
  type EncodingEngine,
  type EncodingRequest,
} from './encoding/encoding-engine.js';
export { ProcessEncodingEngine, type ProcessEncodingEngineOptions } from './process/process-encoding-engine.js';
export { ProcessEngine, type ProcessEngineOptions } from './process/process-engine.js';
export { type RunnerLog } from './process/runner-start.js';
export { endLeftoverRunners } from './process/runner-list.js';
export { WorkerPromptCodec, type WorkerPromptCodecOptions } from './text/worker-prompt-codec.js';
export { undecided } from './generation/stop-scanner.js';
export { TextAssembler, type AssembledStep, type TokenDecoder } from './generation/text-assembler.js';
export { loadTokenDecoder } from './generation/token-decoder.js';
export { STEP_WINDOW } from './generation/row.js';
export { InferenceModule, runnersDirectory, type InferenceModuleOptions } from './inference.module.js';
