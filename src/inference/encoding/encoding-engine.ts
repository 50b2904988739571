/**
 * The port of encoders: models that turn a text into a vector (embedding), or a question and a text into a score
 * (rerank). Plain values in and out, as at the port of text models; one opened model is one child process.
 */

import { DomainError, type ErrorCode } from '../../errors/index.js';
import type { ProviderChoice, ProviderUse } from '../execution-provider.js';
import type { Activations, OpenedModel, OpenOptions } from '../inference-engine.js';

export interface EncoderSpec {
  /** Catalogue id, for messages only. */
  id: string;
  task: 'embedding' | 'rerank';
  /** Absolute folder of the model files (Hugging Face layout). */
  directory: string;
  /** Graph file relative to the folder. */
  graphFile: string;
  /** Intra-op threads of the runtime. */
  threads: number;
  /** Bounds what the model's files allow. Tokens. */
  contextLength?: number | null;
  /** As the file says by default. */
  activations?: Activations;
  /** The processor by default. */
  provider?: ProviderChoice;
}

/** What became known by opening the model. */
export interface EncoderInfo {
  /** Longest text, special tokens included; for rerank question and text together. Tokens. */
  contextLength: number;
  /** Numbers of one vector; 1 for rerank. */
  dimensions: number;
  /** Shorter vectors the model was trained for: these, or any; null: none. */
  shorterDimensions: readonly number[] | 'any' | null;
  /** Vectors have length 1. */
  normalized: boolean;
  /** Texts that run together at most; 1: in this file they would change one another (ENGINE 2.9). */
  batchRows: number;
  /** Resident memory of the process after load, bytes. */
  residentBytes: number;
  /** Nothing is resumed, so nothing is promised bit by bit. */
  exact: null;
  provider: ProviderUse;
  warnings: string[];
}

export interface EncodingRequest {
  texts: readonly string[];
  /** Rerank: what each text is an answer to. */
  query?: string;
}

export interface Encoded {
  /** A vector of `dimensions` numbers; for rerank the model's raw score. */
  values: Float32Array;
  /** Tokens of the text as the model saw it. */
  tokens: number;
}

/** An opened encoder: one child process that owns tokenizer, session and batches. */
export interface EncoderModel extends OpenedModel {
  readonly info: EncoderInfo;
  /**
   * One result a text, in order. Texts of concurrent requests run together, requests in turn. Rejects with TextRefused
   * (context_length_exceeded, invalid_value: the text has no tokens), DomainError model_error (the model gave nothing
   * usable, or its process died), server_shutting_down (it was closed) and, once the signal aborts, with its reason:
   * what has not begun to run then is dropped.
   */
  encode(request: EncodingRequest, signal: AbortSignal): Promise<Encoded[]>;
}

/** The model cannot take in one of the texts. */
export class TextRefused extends DomainError {
  constructor(
    code: ErrorCode,
    message: string,
    /** Which one. */
    readonly index: number,
  ) {
    super(code, message);
  }
}

export interface EncodingEngine {
  /** Rejects with DomainError model_load_failed (message names file, operator or input), as RunnerLost when the process died. */
  open(spec: EncoderSpec, options?: OpenOptions): Promise<EncoderModel>;
}

/** DI token of the encoders' engine. */
export const ENCODING_ENGINE = Symbol('EncodingEngine');
