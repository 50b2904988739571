import type {
  Generation,
  GenerationEnd,
  GenerationListener,
  GenerationStep,
  ReplayedStep,
} from '../inference-engine.js';

/** The service's end of one running generation: hands on what the runner reports, settles once. */
export class LiveGeneration implements Generation {
  readonly ended: Promise<GenerationEnd>;
  private settle!: (end: GenerationEnd) => void;
  private over = false;
  private readonly cached = { prompt: 0, replayed: 0, steps: 0 };

  constructor(
    private readonly listener: GenerationListener,
    private readonly send: { cancel(): void; acknowledge(index: number): void; share(): void },
  ) {
    this.ended = new Promise((resolve) => (this.settle = resolve));
  }

  cancel(): void {
    if (!this.over) this.send.cancel();
  }

  acknowledge(index: number): void {
    if (!this.over) this.send.acknowledge(index);
  }

  share(): void {
    if (!this.over) this.send.share();
  }

  /** Tokens of it that the runner holds, by what it has reported. */
  get cachedTokens(): number {
    return this.cached.prompt + this.cached.replayed + this.cached.steps;
  }

  prefilled(tokens: number, reused: number): void {
    this.cached.prompt = tokens;
    if (!this.over) this.guarded(() => this.listener.prefilled?.(tokens, reused));
  }

  rebuilt(steps: ReplayedStep[]): void {
    if (!this.over) this.guarded(() => this.listener.rebuilt?.(steps));
  }

  replayed(tokens: number): void {
    this.cached.replayed = tokens;
    if (!this.over) this.guarded(() => this.listener.replayed?.(tokens));
  }

  step(step: GenerationStep): void {
    this.cached.steps += 1;
    if (!this.over) this.guarded(() => this.listener.step(step));
  }

  end(end: GenerationEnd): void {
    this.over = true;
    this.settle(end);
  }

  /** A listener that throws loses its own generation and nobody else's. */
  private guarded(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.send.cancel();
      this.end({ outcome: 'failed', message: `the listener failed: ${(error as Error).message}` });
    }
  }
}
