import type { DynamicModule, Type } from '@nestjs/common';
import type { MigrationInterface } from 'typeorm';
import type { Authenticator } from './clients/index.js';
import type { SettingTable } from './config/index.js';
import type { InferenceEngine } from './inference/index.js';
import type { ModelSource } from './pulls/index.js';
import type { RetentionRule } from './retention/index.js';
import type { AdmissionPolicy, TaskListener, TaskRecorder, TaskType } from './tasks/index.js';

/**
 * A part of the service that somebody else wrote: a Nest module, and the places where it joins in. Nest, TypeORM and this
 * package are its peers: it must not bring copies of its own.
 *
 * The classes named here become providers of `module`, and so inject what every provider of it can: UnitOfWork, StoreReader,
 * CONFIG, EXTENSION_SETTINGS, the services of this package and its own. Whatever two extensions cannot both have, or one and
 * the service, keeps the service from starting, and both are named.
 */
export interface Extension {
  /** Unique, in kebab case: `audit-sink`. Names of tables and variables begin with it. */
  readonly name: string;
  /** Of the extension. */
  readonly version: string;
  /** Versions of this package that it works with, as a semver range: `^0.4`. Another one refuses to start. */
  readonly compatibleWith: string;
  /** Controllers and providers. Needs no imports of ours. */
  readonly module: Type | DynamicModule;
  /** Tables of its own: their names begin with its name in snake case, `audit_sink_entries`. */
  readonly entities?: readonly Type<object>[];
  /** Make those tables and nothing else, each in its transaction, after the service's own. Class names end in a timestamp. */
  readonly migrations?: readonly Type<MigrationInterface>[];
  /** Kinds of background work that it adds to `POST /v1/tasks`. */
  readonly taskTypes?: readonly Type<TaskType>[];
  /** Write rows of its own in the transaction of each transition of a task. */
  readonly recorders?: readonly Type<TaskRecorder>[];
  /** Hear of each transition once it is on disk. */
  readonly listeners?: readonly Type<TaskListener>[];
  /** Replace the one implementation of something; each may be set once in the whole application. */
  readonly strategies?: ExtensionStrategies;
  /** How long its data is kept, and how it goes. */
  readonly retentionRules?: readonly Type<RetentionRule>[];
  /** Scopes for its routes with what they let a client do, in a few words: `{ 'audit-sink:read': 'read its entries' }`. */
  readonly scopes?: Readonly<Record<`${string}:${string}`, string>>;
  /** Its settings: `maxRows` is read from LMSP_EXT_AUDIT_SINK_MAX_ROWS, and injected by EXTENSION_SETTINGS. */
  readonly configKeys?: SettingTable;
}

/** A strategy has exactly one implementation, and a default. */
export interface ExtensionStrategies {
  /** Who sends a request. Default: only the service's own tokens, which stay valid in any case. */
  readonly authenticator?: Type<Authenticator>;
  /** Whether work is let in. Default: all that the queue has room for. */
  readonly admissionPolicy?: Type<AdmissionPolicy>;
  /** What computes text models. Default: ONNX Runtime in a process for each model. */
  readonly inferenceEngine?: Type<InferenceEngine>;
  /** Where models are pulled from. Default: the hub of LMSP_HUB_URL. */
  readonly modelSource?: Type<ModelSource>;
}
