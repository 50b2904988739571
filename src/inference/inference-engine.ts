/**
 * The engine port: plain values in and out (token ids, text, numbers). No tensor, session or buffer of the runtime
 * crosses it (HOUSE 6). One opened model is one child process; what a method promises here, the contract suite in
 * test/contract checks for the real engine and for the fake one alike.
 */

import { DomainError } from '../errors/index.js';
import type { OutputConstraint } from './output-constraint.js';
import type { ProviderChoice, ProviderUse } from './execution-provider.js';

/** How tokens are drawn (ENGINE 4.5). All fields are resolved: defaults were applied before. */
export interface SamplingParameters {
  /** 0 = greedy (argmax, ties to the lowest id); else the logits are divided by it. */
  temperature: number;
  /** 0 = off. */
  topK: number;
  /** 1 = off. */
  topP: number;
  /** 0 = off. */
  minP: number;
  /** 1 = off. */
  repetitionPenalty: number;
  presencePenalty: number;
  frequencyPenalty: number;
  /** Token id → value added to its logit. */
  logitBias: Record<string, number>;
}

export interface ModelSpec {
  /** Catalogue id, for messages only. */
  id: string;
  /** Absolute folder of the model files (Hugging Face layout). */
  directory: string;
  /** Graph file relative to the folder, e.g. `onnx/model.onnx`. */
  graphFile: string;
  /** Bounds the context below what the files allow; null: not. Tokens. */
  contextLength?: number | null;
  /** Rows decoded together in one step, 1..64. */
  rows: number;
  /** Intra-op threads of the runtime. */
  threads: number;
  /** Digest of the model's files as registered; part of the fingerprint. Empty: not known. */
  digest?: string;
  /** A row gives the same bits whatever runs beside it, also where that costs a lone row its speed (ENGINE 2.8). */
  batchInvariant?: boolean;
  /** As the file says by default; part of the fingerprint. */
  activations?: Activations;
  /** The processor by default; part of the fingerprint. */
  provider?: ProviderChoice;
  /** Memory for the beginnings of prompts, which later prompts reuse (`GenerationRequest.cacheScope`); absent: none. */
  prefixCacheBytes?: number;
  /** So long after some steps were told the next ones may wait to be told together, in milliseconds; absent: not at all. */
  gatherMs?: number;
}

/**
 * How quantised products take in activations on the processor (ENGINE 2.9): rounded to int8 in blocks, for which it has
 * fast kernels, or as the graph file says.
 */
export type Activations = 'int8' | 'file';

/** What became known by opening the model. Counts are tokens unless said. */
export interface EngineModelInfo {
  /** As the spec gave it. */
  digest: string;
  /** Longest prompt + output. */
  contextLength: number;
  vocabularySize: number;
  /** `in-place`: past and present share memory (self-test passed); `copying`: the runtime's own outputs are used. */
  kvMode: 'in-place' | 'copying';
  endTokenIds: number[];
  /** Resident memory of the runner after load, bytes. */
  residentBytes: number;
  /**
   * What must be equal for a snapshot to be continued exactly (ENGINE 4.7): the model's files, runtime, processor,
   * kernel classes, cache mode, versions. An opaque digest without white space.
   */
  fingerprint: string;
  /** Sets of kernels that the number of rows chooses from, as measured at load: 1, 2 (a lone row has its own), more. */
  kernelClasses: number;
  exact: ExactPromises;
  provider: ProviderUse;
  /** Warnings worth an operator's log line, e.g. a model without end tokens. */
  warnings: string[];
}

/** What holds bit by bit on this machine (ENGINE 2.8). */
export interface ExactPromises {
  /** A generation continued from its log equals the uninterrupted one. */
  resume: boolean;
  /** An output does not depend on what runs beside it. */
  batchInvariant: boolean;
}

export interface GenerationRequest {
  /** Unique among live generations of the model. */
  id: string;
  /** Rendered and tokenised prompt; at least one id, each 0 <= id < vocabularySize. */
  promptIds: number[];
  /** Integer 0..2^53-1; the draw of token i depends on (seed, i) only. */
  seed: number;
  sampling: SamplingParameters;
  /** Up to 4 non-empty strings; output ends before the first match. */
  stop: string[];
  /** At least 1. Also bounded by contextLength - promptIds.length. */
  maxOutputTokens: number;
  /** What the output must be, enforced token by token; absent: anything. */
  constraint?: OutputConstraint;
  /** Special tokens, by their spelling, that are part of the text all the same: what opens a call, say. */
  shownTokens?: string[];
  /** Each step tells its log probability and those of as many of the likeliest tokens, 0..20; absent: nothing is told. */
  topLogprobs?: number;
  /**
   * Tokens of an earlier attempt, to go on behind (ENGINE 4.8): they are decoded again each in its kernel class, drawn
   * by nobody and reported as no step; the next step has the index behind them. A log that holds the end already ends
   * the generation at once.
   */
  replay?: LoggedToken[];
  /**
   * Reuses what earlier prompts of the same scope left in the cache, and leaves its own for later ones; absent: neither.
   * Changes no output, only the time to the first token, which tells whoever shares a scope what was asked in it.
   */
  cacheScope?: string;
  /** Runs beside nothing else: the model's other rows pause until `share`, or until it has ended (WIRE B6, suspect). */
  alone?: boolean;
}

/** Natural logarithm of a token's probability by the model itself: before bias, penalties, temperature, constraint. */
export interface TokenLogprob {
  tokenId: number;
  /** The token decoded by itself; U+FFFD stands for part of a character. */
  text: string;
  bytes: number[];
  logprob: number;
}

/** Of the drawn token and of the likeliest ones, likeliest first. */
export interface StepLogprobs extends TokenLogprob {
  top: TokenLogprob[];
}

/** What is remembered of one token: enough to decode it again the way it was decoded (ENGINE 4.7). */
export interface LoggedToken {
  tokenId: number;
  kernelClass: KernelClass;
}

/**
 * Which matrix kernels were used (ENGINE 2.8): whether the run that a token was drawn from, and that wrote the cache of the
 * token before it, held one row or several. The first token comes from the prompt's last chunk: always `alone`.
 */
export type KernelClass = 'alone' | 'batch';

/** One generated token: the unit of journaling (WIRE B5 invariant 8). */
export interface GenerationStep {
  /** 0, 1, 2… within the generation. */
  index: number;
  /** The sampled id, end token included. */
  tokenId: number;
  kernelClass: KernelClass;
  /** Text that became certain with this token; may be empty (held back for a stop string or an unfinished character). */
  text: string;
  /** Set on the last step only. */
  finish: FinishReason | null;
  /** Where the request asked for them. */
  logprobs?: StepLogprobs;
}

/** What a token of the log yields, as its step once said. */
export type ReplayedStep = Pick<GenerationStep, 'text' | 'finish'>;

/** `stop`: end token or stop string; `limit`: maxOutputTokens or context length reached. */
export type FinishReason = 'stop' | 'limit';

/** How a generation ended, normalised once (HOUSE 6). */
export type GenerationEnd =
  | { outcome: 'finished'; finish: FinishReason }
  | { outcome: 'cancelled' }
  /** The model produced something unusable (NaN logits, runtime error): this generation alone fails. */
  | { outcome: 'failed'; message: string }
  /**
   * The runner died or was killed by the watchdog; nothing about the request itself is known, but whether it was the
   * only one that ran there (WIRE B6: only then it is to blame).
   */
  | { outcome: 'lost'; message: string; alone: boolean };

/** How a model's process ended. */
export interface RunnerEnd {
  /** By close(). */
  expected: boolean;
  /** It had made no progress for too long and was ended. */
  stalled: boolean;
  message: string;
  /** A generation that was lost with it was the only one that ran there. */
  blamed: boolean;
  /** It had made a step that is on disk. */
  progressed: boolean;
}

/** Receives a generation's progress, in order, never after `ended` has settled. */
export interface GenerationListener {
  /** Tokens of the prompt processed so far; `reused`: of them, those that an earlier prompt had left in the cache. */
  prefilled?(tokens: number, reused: number): void;
  /** Once, before all else, for a request with `replay`: what its tokens yield, stop test included. */
  rebuilt?(steps: ReplayedStep[]): void;
  /** Tokens of the log decoded again so far. */
  replayed?(tokens: number): void;
  step(step: GenerationStep): void;
}

/** One running generation. */
export interface Generation {
  /** Settles exactly once, never rejects. The last step has been delivered before. */
  readonly ended: Promise<GenerationEnd>;
  /** The row leaves before the next decode step or prefill chunk. Idempotent. */
  cancel(): void;
  /**
   * Says that steps 0..index are on disk. A row whose unacknowledged steps reach the engine's window
   * (32) stops decoding until it is told so: memory stays bounded while the disk is slow.
   */
  acknowledge(index: number): void;
  /** Lets others run beside a generation that was asked for `alone`. Idempotent. */
  share(): void;
}

/** A moment of an opened model. */
export interface EngineActivity {
  /** Sequences with tokens in the cache. */
  rows: number;
  /** Tokens that the cache holds, and that it has room for. */
  cachedTokens: number;
  cacheCapacityTokens: number;
  /** What is kept of earlier prompts, beside the cache. */
  prefixBytes: number;
  /** Memory of the process. */
  residentBytes: number;
  /** Since the last sign of progress, while there is work; 0 when idle. Milliseconds, to a second. */
  silentMs: number;
}

/** An opened model of any kind: one child process. */
export interface OpenedModel {
  /** `exact`: null where nothing is resumed. */
  readonly info: {
    readonly exact: ExactPromises | null;
    readonly provider: ProviderUse;
    readonly residentBytes: number;
    readonly warnings: string[];
  };
  /** Settles when the process is gone, by close() or by accident; never rejects. */
  readonly gone: Promise<RunnerEnd>;
  /** What it is doing at the moment; for figures, never for decisions. */
  activity(): Promise<EngineActivity>;
  /** Ends the process at once; work under way is lost. */
  close(): Promise<void>;
}

/** An opened text model: its process owns session, KV slab, scheduler, sampler, detokeniser and stop scan. */
export interface EngineModel extends OpenedModel {
  readonly info: EngineModelInfo;
  /** This process's incarnation; fences the writes of tasks that ran on it. */
  readonly incarnation: string;
  /**
   * Starts a generation; waits inside the engine while all rows are taken. Throws
   * DomainError: invalid_value (an id out of range, a name in use), context_length_exceeded (prompt >= contextLength; the
   * message has both numbers), queue_full (the bound of waiting generations).
   */
  generate(request: GenerationRequest, listener: GenerationListener): Generation;
}

/** The process died while it opened the model. Whose fault that was is not known: another try may do. */
export class RunnerLost extends DomainError {
  constructor(message: string) {
    super('model_load_failed', message);
  }
}

export interface OpenOptions {
  /** 0..1, as the load proceeds. */
  progress?(fraction: number): void;
  signal?: AbortSignal;
}

export interface InferenceEngine {
  /** What computes, with its version: `onnxruntime-node 1.30.0`. */
  readonly name: string;
  /**
   * Rejects with DomainError model_load_failed (message names the file, operator or input), as RunnerLost when the
   * process died of something else than a refusal.
   */
  open(spec: ModelSpec, options?: OpenOptions): Promise<EngineModel>;
}

/** DI token of the engine strategy. */
export const INFERENCE_ENGINE = Symbol('InferenceEngine');
