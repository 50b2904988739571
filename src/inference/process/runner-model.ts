import { randomUUID } from 'node:crypto';
import { DomainError } from '../../errors/index.js';
import type {
  EngineActivity,
  EngineModel,
  EngineModelInfo,
  Generation,
  GenerationListener,
  GenerationRequest,
  RunnerEnd,
} from '../inference-engine.js';
import { checkRequest } from '../request-check.js';
import type { FromRunner, ToRunner } from '../runner-protocol.js';
import { LiveGeneration } from './live-generation.js';
import { residentBytesOf } from './resident-memory.js';
import { Watchdog } from './watchdog.js';

/** A runner as the service holds it: a process, or a double of one. */
export interface RunnerLink<To = ToRunner, From = FromRunner> {
  /** Of the process; undefined where there is none. */
  readonly pid?: number | undefined;
  send(message: To): void;
  /** Receives every message of the runner from now on. */
  onMessage(receive: (message: From) => void): void;
  /** Ends it at once; `gone` follows. */
  kill(): void;
  /** Settles with how it ended; never rejects. */
  readonly gone: Promise<string>;
}

export interface RunnerModelLimits {
  /** A runner with work that reports nothing for so long is ended. */
  stallSeconds: number;
  /** Sequences that the cache has room for. */
  rows: number;
  /** Generations at a time, waiting ones included. */
  maxGenerations: number;
}

/** The service's side of an open model: sends requests, hands reports to their generations, watches for silence. */
export class RunnerModel implements EngineModel {
  readonly incarnation = randomUUID();
  readonly gone: Promise<RunnerEnd>;
  private readonly live = new Map<string, LiveGeneration>();
  private readonly acknowledged = new Map<string, number>();
  private readonly watchdog: Watchdog;
  private sent = 0;
  private dead = false;
  private closing = false;
  private stalled = false;
  private progressed = false;
  private prefixBytes = 0;
  /** The generation that runs beside nothing else: the others are paused. */
  private lone: string | null = null;

  constructor(
    readonly info: EngineModelInfo,
    private readonly link: RunnerLink,
    private readonly limits: RunnerModelLimits,
  ) {
    this.watchdog = new Watchdog(limits.stallSeconds * 1000, () => {
      this.stalled = true;
      link.kill();
    });
    link.onMessage((message) => this.receive(message));
    this.gone = link.gone.then((message) => this.lose(message));
  }

  generate(request: GenerationRequest, listener: GenerationListener): Generation {
    checkRequest(request, this.info);
    const { id } = request;
    if (this.live.has(id)) throw new DomainError('invalid_value', `a generation ${id} is running already`);
    if (this.live.size >= this.limits.maxGenerations) {
      throw new DomainError('queue_full', `${this.live.size} generations are waiting for this model already`);
    }
    const generation = new LiveGeneration(listener, {
      cancel: () => this.send({ kind: 'cancel', id }),
      acknowledge: (index) => this.acknowledge(id, index),
      share: () => this.share(id),
    });
    if (this.dead) {
      generation.end({ outcome: 'lost', message: 'the runner is gone', alone: false });
      return generation;
    }
    this.live.set(id, generation);
    if (request.alone) this.lone = id;
    this.send({ kind: 'generate', request });
    return generation;
  }

  async activity(): Promise<EngineActivity> {
    const cached = [...this.live.values()].map((generation) => generation.cachedTokens).filter((tokens) => tokens > 0);
    return {
      rows: cached.length,
      cachedTokens: cached.reduce((sum, tokens) => sum + tokens, 0),
      cacheCapacityTokens: this.limits.rows * this.info.contextLength,
      prefixBytes: this.prefixBytes,
      residentBytes: (await residentBytesOf(this.link.pid)) ?? this.info.residentBytes,
      silentMs: this.watchdog.silence,
    };
  }

  async close(): Promise<void> {
    this.closing = true;
    this.link.kill();
    await this.gone;
  }

  private receive(message: FromRunner): void {
    if (message.kind !== 'report' || this.dead) return;
    const { report, received, prefixBytes } = message;
    this.prefixBytes = prefixBytes;
    for (const [id, steps] of report.rebuilt) this.live.get(id)?.rebuilt(steps);
    for (const [id, tokens, reused] of report.prefilled) this.live.get(id)?.prefilled(tokens, reused);
    for (const [id, tokens] of report.replayed) this.live.get(id)?.replayed(tokens);
    for (const [id, step] of report.steps) this.live.get(id)?.step(step);
    for (const [id, end] of report.ended) {
      this.live.get(id)?.end(end);
      this.live.delete(id);
      if (this.lone === id) this.lone = null;
    }
    this.watchdog.heard(!report.idle || received < this.sent);
  }

  private share(id: string): void {
    if (this.lone === id) this.lone = null;
    this.send({ kind: 'share', id });
  }

  /** Goes out once per turn of the event loop for all rows, not once per token. */
  private acknowledge(id: string, index: number): void {
    this.progressed = true;
    if (this.acknowledged.size === 0) setImmediate(() => this.sendAcknowledged());
    this.acknowledged.set(id, Math.max(index, this.acknowledged.get(id) ?? index));
  }

  private sendAcknowledged(): void {
    this.send({ kind: 'acknowledge', steps: [...this.acknowledged] });
    this.acknowledged.clear();
  }

  private send(message: ToRunner): void {
    if (this.dead) return;
    this.sent++;
    this.watchdog.expect();
    this.link.send(message);
  }

  private lose(how: string): RunnerEnd {
    this.dead = true;
    this.watchdog.stop();
    const message = this.stalled ? `the runner made no progress for ${this.limits.stallSeconds} s and was ended` : how;
    const culprit = this.lone ?? (this.live.size === 1 ? [...this.live.keys()][0] : null);
    for (const [id, generation] of this.live) generation.end({ outcome: 'lost', message, alone: id === culprit });
    const blamed = this.live.size > 0 && culprit !== null;
    this.live.clear();
    return { expected: this.closing, stalled: this.stalled, message, blamed, progressed: this.progressed };
  }
}
