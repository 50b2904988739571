import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { DomainError } from '../errors/index.js';
import type { DecodeInput, LanguageModel } from '../inference/generation/language-model.js';
import { PrefixModel, type BlockRows } from '../inference/generation/prefix-model.js';
import type { TokenDecoder } from '../inference/generation/text-assembler.js';
import type {
  EngineModel,
  EngineModelInfo,
  ExactPromises,
  GenerationRequest,
  InferenceEngine,
  KernelClass,
  ModelSpec,
  OpenOptions,
} from '../inference/inference-engine.js';
import { RunnerModel, type RunnerLink } from '../inference/process/runner-model.js';
import type { FromRunner, ToRunner } from '../inference/runner-protocol.js';
import { RunnerSession } from '../inference/runner-session.js';
import { END_ID, FakeVocabulary } from './fake-vocabulary.js';
import { Gate } from './gate.js';

/** The end token, as a piece of a script. */
export const END = Symbol('end');
/** Logits nothing can be drawn from, as a piece of a script. */
export const BROKEN = Symbol('broken');
export type Piece = string | Uint8Array | typeof END | typeof BROKEN;

export interface FakeEngineOptions {
  tokens?: (request: GenerationRequest) => Iterable<Piece>;
  next?: (classes: readonly KernelClass[]) => Piece;
  stepDelayMs?: number;
  pause?: () => Promise<void>;
  contextLength?: number;
  vocabularySize?: number;
  /** Time without a report after which a model with work is taken for dead. */
  stallSeconds?: number;
  maxWaiting?: number;
  loneRowDiffers?: boolean;
  vocabulary?: FakeVocabulary;
  exact?: ExactPromises;
  fingerprint?: string;
}

export type Hold = 'loads' | 'steps' | 'runs';

/**
 * An engine without a model: generations follow a script. It runs the product's own scheduler, sampler, text assembler
 * and supervisor in this process; only the model (and the process around it) is a double. What it shares with the real
 * engine is checked by the contract suite (test/contract).
 *
 *   const engine = new FakeEngine({ tokens: () => ['Hel', 'lo', Uint8Array.of(0xf0, 0x9f), END] });
 *
 * - `tokens(request)`: one piece = one token. The script's end is the end token, as is END; BROKEN makes that one
 *   generation fail; an endless generator runs to its limit. Sampling parameters do not change the script.
 * - `stepDelayMs`: time per turn (a turn gives every decoding row one token, or takes in 128 prompt tokens).
 * - `pause()`: awaited before each turn instead of that time, e.g. for pauses counted in turns of the event loop.
 * - `hold('steps')` stops between turns: cancels still work. `step(n)` lets n turns pass. `hold('runs')` stops inside a
 *   run, as a long native call does: cancels wait. `hold('loads')` keeps open() waiting. `release(what)` ends a hold.
 * - `failLoads(error)`: open() rejects with it, until called with null.
 * - `killAll()`: every open model dies as by accident; `models` are those open now, `requests` all generations so far.
 * - `next(classes)`: instead of a script: the next piece, by the kernels that wrote each token of the row so far.
 * - `loneRowDiffers`: as on a processor with two kernel classes; `exact` and `fingerprint`: what the model says of itself.
 * - `vocabulary`: of another engine, whose ids mean the same here: a log outlives its engine.
 * - What an output is held to is the script's own business.
 * - `decoder`: the token decoder of its ids, for replaying a log.
 */
export class FakeEngine implements InferenceEngine {
  readonly name = 'fake';
  readonly models: EngineModel[] = [];
  readonly requests: GenerationRequest[] = [];
  readonly decoder: TokenDecoder;
  private readonly gates: Record<Hold, Gate> = { loads: new Gate(), steps: new Gate(), runs: new Gate() };
  private readonly links = new Set<FakeLink>();
  readonly vocabulary: FakeVocabulary;
  private loadError: DomainError | null = null;

  constructor(private readonly options: FakeEngineOptions = {}) {
    this.vocabulary = options.vocabulary ?? new FakeVocabulary(options.vocabularySize ?? 4096);
    this.decoder = this.vocabulary;
  }

  async open(spec: ModelSpec, options: OpenOptions = {}): Promise<EngineModel> {
    const { signal } = options;
    options.progress?.(0);
    const aborted = new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve(), { once: true }));
    if (!signal?.aborted) await Promise.race([this.gates.loads.pass(), aborted]);
    if (signal?.aborted) throw new DomainError('model_load_failed', 'the load was given up');
    if (this.loadError) throw this.loadError;
    options.progress?.(1);
    const link = new FakeLink((running) => this.session(spec, running));
    const model = new RunnerModel(this.info(spec), link, {
      stallSeconds: this.options.stallSeconds ?? 3600,
      rows: spec.rows,
      maxGenerations: spec.rows + (this.options.maxWaiting ?? 256),
    });
    this.models.push(model);
    this.links.add(link);
    void model.gone.then(() => {
      this.models.splice(this.models.indexOf(model), 1);
      this.links.delete(link);
    });
    return model;
  }

  hold(what: Hold = 'steps'): void {
    this.gates[what].hold();
  }

  release(what: Hold = 'steps'): void {
    this.gates[what].release();
  }

  step(turns = 1): void {
    this.gates.steps.permit(turns);
  }

  failLoads(error: DomainError | null): void {
    this.loadError = error;
  }

  killAll(): void {
    for (const link of this.links) link.kill();
  }

  private info({ digest, batchInvariant = false }: ModelSpec): EngineModelInfo {
    const { loneRowDiffers = false } = this.options;
    return {
      digest: digest ?? '',
      contextLength: this.options.contextLength ?? 2048,
      vocabularySize: this.vocabulary.size,
      kvMode: 'in-place',
      endTokenIds: [END_ID],
      residentBytes: 1_000_000,
      fingerprint: this.options.fingerprint ?? `fake/${digest ?? ''}`,
      kernelClasses: loneRowDiffers ? 2 : 1,
      exact: this.options.exact ?? { resume: true, batchInvariant: batchInvariant || !loneRowDiffers },
      provider: { used: 'cpu', reason: null },
      warnings: [],
    };
  }

  private session(spec: ModelSpec, link: FakeLink): RunnerSession {
    const script = this.options.tokens ?? ((): Piece[] => ['Hello', ',', ' world', '!']);
    const model = new ScriptedModel(this.info(spec), this.vocabulary, this.gates.runs, (request) => {
      this.requests.push(request);
      return script(request);
    });
    model.next = this.options.next;
    const { stepDelayMs } = this.options;
    const wait = this.options.pause ?? (() => (stepDelayMs ? delay(stepDelayMs) : nextTurn()));
    const pause = async (): Promise<void> => {
      await wait();
      await link.between(this.gates.steps.pass());
    };
    const { loneRowDiffers = false } = this.options;
    const rules = { loneRowDiffers, alwaysBatch: loneRowDiffers && spec.batchInvariant === true, fixedChunks: false };
    const send = (message: FromRunner): void => link.deliver(message);
    const remembering = new PrefixModel(model, NO_MEMORY, spec.prefixCacheBytes ?? 0);
    return new RunnerSession({ model: remembering, decoder: this.decoder, rows: spec.rows, rules, send, pause });
  }
}

/** The message channel of a runner, inside one process: in order, never in the caller's own turn. */
class FakeLink implements RunnerLink {
  readonly gone: Promise<string>;
  private readonly session: RunnerSession;
  private receive: (message: FromRunner) => void = () => undefined;
  private end!: (message: string) => void;
  private dead = false;
  private resting = false;

  constructor(session: (link: FakeLink) => RunnerSession) {
    this.gone = new Promise((resolve) => (this.end = resolve));
    this.session = session(this);
  }

  send(message: ToRunner): void {
    setImmediate(() => {
      if (this.dead || message.kind === 'open') return;
      const free = message.kind === 'generate' && {
        ...message,
        request: { ...message.request, constraint: undefined },
      };
      this.session.handle(free || message);
      if (message.kind === 'cancel' && this.resting) this.session.sweep();
    });
  }

  onMessage(receive: (message: FromRunner) => void): void {
    this.receive = receive;
  }

  deliver(message: FromRunner): void {
    if (!this.dead) this.receive(message);
  }

  /** Between two turns; a dead runner makes no other. */
  async between(pause: Promise<void>): Promise<void> {
    this.resting = true;
    await pause;
    this.resting = false;
    if (this.dead) await new Promise(() => undefined);
  }

  kill(): void {
    this.dead = true;
    this.end('the runner ended with signal SIGKILL');
  }
}

/** A scripted row has nothing to copy: what was there of its prompt is told all the same. */
const NO_MEMORY: BlockRows<object> = {
  blockBytes: 1024,
  createBlock: () => ({}),
  readBlock: () => undefined,
  writeBlock: () => undefined,
};

/** Logits that leave only the script's next piece to be drawn. The row's length tells the place in the script. */
class ScriptedModel implements LanguageModel {
  readonly vocabularySize: number;
  readonly contextLength: number;
  next: FakeEngineOptions['next'];
  private readonly rows: {
    promptLength: number;
    drawn: Piece[];
    rest: Iterator<Piece>;
    /** Kernels that wrote each token behind the prompt. */
    classes: KernelClass[];
  }[] = [];

  constructor(
    info: EngineModelInfo,
    private readonly vocabulary: FakeVocabulary,
    private readonly gate: Gate,
    private readonly script: (request: GenerationRequest) => Iterable<Piece>,
  ) {
    this.vocabularySize = info.vocabularySize;
    this.contextLength = info.contextLength;
  }

  admit(row: number, request: GenerationRequest): number {
    const rest = this.script(request)[Symbol.iterator]();
    this.rows[row] = { promptLength: request.promptIds.length, drawn: [], rest, classes: [] };
    return 0;
  }

  async prefill(row: number, ids: readonly number[], past: number): Promise<Float32Array> {
    await this.gate.pass();
    const end = past + ids.length;
    return end < this.rows[row]!.promptLength ? new Float32Array(this.vocabularySize) : this.logits(row, end);
  }

  async decode(inputs: readonly DecodeInput[], first: number): Promise<Float32Array[]> {
    await this.gate.pass();
    return inputs.map(({ past }, i) => {
      const row = this.rows[first + i];
      if (row) row.classes[past - row.promptLength] = inputs.length === 1 ? 'alone' : 'batch';
      return this.logits(first + i, past + 1);
    });
  }

  move(from: number, to: number): void {
    this.rows[to] = this.rows[from]!;
  }

  private logits(row: number, length: number): Float32Array {
    // The partner of a lone row may be nobody, or a prompt that is being taken in.
    const { promptLength = Infinity, drawn = [], rest, classes = [] } = this.rows[row] ?? {};
    if (!rest || length < promptLength) return new Float32Array(this.vocabularySize);
    if (this.next) return this.only(this.next(classes.slice(0, length - promptLength)));
    while (drawn.length <= length - promptLength) {
      const next = rest.next();
      drawn.push(next.done ? END : next.value);
    }
    return this.only(drawn[length - promptLength]!);
  }

  private only(piece: Piece): Float32Array {
    const logits = new Float32Array(this.vocabularySize);
    if (piece === BROKEN) return logits.fill(NaN);
    logits[piece === END ? END_ID : this.vocabulary.idOf(piece)] = 100_000;
    return logits;
  }
}
