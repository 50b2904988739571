/**
 * What extensions and programs that embed the service may rely on; everything else is private. A change here is a line of
 * CHANGELOG.md (docs/decisions/0008).
 */
export type { Extension, ExtensionStrategies } from './extension.js';

export { AppModule, type AppOptions } from './app.module.js';
export { createApp } from './create-app.js';
export { Service } from './service.js';

export {
  CONFIG,
  ConfigInvalid,
  cron,
  flag,
  foundAtStart,
  listOf,
  loadConfig,
  oneOf,
  optionalFile,
  secret,
  serviceAddress,
  serviceVersion,
  whole,
  type Config,
  type Setting,
  type SettingTable,
  type SettingValues,
} from './config/index.js';
export { EXTENSION_SETTINGS } from './extensions/index.js';

export { DomainError, ERROR_CODES, ERROR_KINDS, StartRefused } from './errors/index.js';
export type { DomainErrorOptions, ErrorBody, ErrorCode, ErrorKind } from './errors/index.js';

export { newIdentifier, StoreReader, UnitOfWork, type SqlParameters, type Tx } from './database/index.js';
export {
  expiredBefore,
  TimedRows,
  type RetentionBatch,
  type RetentionRule,
  type RetentionStep,
  type RetentionSurvey,
  type TimedTable,
} from './retention/index.js';

export {
  AnyClient,
  CurrentClient,
  Public,
  RequireScope,
  RequireScopeOrOwn,
  type Authenticator,
  type Client,
  type Credentials,
  type Identity,
  type Scope,
} from './clients/index.js';
export { bodyOf, Nested, Rule } from './http/index.js';
export { DescribeRoute, Meaning, type AnswerDescription, type RouteDescription, type Schema } from './openapi/index.js';

export type {
  Activations,
  EngineActivity,
  EngineModel,
  EngineModelInfo,
  ExactPromises,
  FinishReason,
  Generation,
  GenerationEnd,
  GenerationListener,
  GenerationRequest,
  GenerationStep,
  InferenceEngine,
  KernelClass,
  LoggedToken,
  ModelSpec,
  OpenOptions,
  OutputConstraint,
  ProviderChoice,
  ProviderUse,
  ReplayedStep,
  RunnerEnd,
  SamplingParameters,
  StepLogprobs,
  TokenLogprob,
} from './inference/index.js';
export { RunnerLost } from './inference/index.js';
export { SourceInterrupted } from './pulls/index.js';
export type { FileDigest, FilePieces, ListedFile, ModelSource } from './pulls/index.js';

export { ModelAnswers, type ModelAnswer, type ModelQuestion } from './responses/index.js';
export type { ResponseObject, ResponseUsage } from './responses/index.js';

export { ON_RESTART_POLICIES, TASK_STATUSES, TaskQueries } from './tasks/index.js';
export type {
  AdmissionPolicy,
  AdmissionRefusal,
  AdmissionRequest,
  JsonObject,
  OnRestart,
  Task,
  TaskCommand,
  TaskFacts,
  TaskListener,
  TaskRecorder,
  TaskStatus,
  TaskTransition,
  TaskType,
  TaskTypeEvent,
  TaskTypeProgress,
  TypedTaskRun,
} from './tasks/index.js';
