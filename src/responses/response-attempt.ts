import { DomainError } from '../errors/index.js';
import type {
  EngineModel,
  Generation,
  GenerationEnd,
  GenerationListener,
  GenerationStep,
  ReplayedStep,
} from '../inference/index.js';
import type { TaskOutcome, TaskRun } from '../tasks/index.js';
import { ResponseEvents } from './response-events.js';
import { foldOutput } from './response-fold.js';
import type { GenerationRecord, OutputItem } from './response-object.js';
import type { ResponsePast } from './response-resumption.js';
import { snapshotLine } from './token-log.js';

/** One attempt at a response: every token is a step on disk before any reader sees it. */
export class ResponseAttempt implements GenerationListener {
  private readonly events: ResponseEvents;
  private readonly live: Generation;
  private failure: unknown = null;
  private strayed = false;
  private cachedTokens = 0;

  /** `past`: what an earlier attempt of the same start has left, to go on behind; null: a beginning. */
  constructor(
    private readonly run: TaskRun,
    private readonly model: EngineModel,
    private readonly generation: GenerationRecord & { cacheScope: string },
    private readonly past: ResponsePast | null,
  ) {
    const { task } = run;
    this.events = new ResponseEvents(task.responseId ?? '', task.startCount, generation.syntax);
    const replay = past?.tokens ?? [];
    const id = `${task.id}.${task.attempt}`;
    this.live = model.generate({ id, ...generation, replay, alone: run.proven !== null }, this);
    void run.proven?.then(() => this.live.share());
  }

  async outcome(): Promise<TaskOutcome> {
    const { signal } = this.run;
    const stop = (): void => this.live.cancel();
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    const end = await this.live.ended;
    signal.removeEventListener('abort', stop);
    if (this.failure instanceof Error) throw this.failure;
    if (this.strayed) return { kind: 'unusable', reason: 'output' };
    return this.events.ended ? { kind: 'completed' } : outcomeOf(end);
  }

  prefilled(tokens: number, reused: number): void {
    this.cachedTokens = reused;
    this.run.progress({ phase: 'prefill', load_fraction: null, prompt_tokens: tokens, output_tokens: 0 });
  }

  /** The log's tokens must yield the very items and text that readers have seen (invariant 11); else nothing is gone on. */
  rebuilt(steps: ReplayedStep[]): void {
    const drafts = steps.flatMap((step) => this.events.next(step));
    const payloads = drafts.map(({ type, payload }) => JSON.stringify({ type, ...payload }));
    const seen = this.past?.output ?? [];
    this.strayed = comparable(foldOutput([], payloads)) !== comparable(seen);
    this.events.adopt(seen);
    if (this.strayed || this.events.ended) this.live.cancel();
  }

  replayed(tokens: number): void {
    this.report('replay', tokens);
  }

  step(step: GenerationStep): void {
    if (this.strayed || this.events.ended) return;
    this.report('decode', step.index + 1);
    const events = this.events.next(step);
    const { fingerprint } = this.model.info;
    const snapshot = snapshotLine(step, { fingerprint, cachedTokens: this.cachedTokens }, this.events.reasoning);
    if (this.events.ended) this.live.cancel();
    this.run.append({ events, snapshot, gathers: true }).then(
      () => this.live.acknowledge(step.index),
      (error: unknown) => {
        this.failure ??= error;
        this.live.cancel();
      },
    );
  }

  private report(phase: string, outputTokens: number): void {
    this.run.progress({
      phase,
      load_fraction: null,
      prompt_tokens: this.generation.promptIds.length,
      output_tokens: outputTokens,
    });
  }
}

/** Steps that are made again tell no log probabilities. */
function comparable(output: OutputItem[]): string {
  return JSON.stringify(output, (key, value: unknown) => (key === 'logprobs' ? undefined : value));
}

function outcomeOf(end: GenerationEnd): TaskOutcome {
  switch (end.outcome) {
    case 'finished':
      return end.finish === 'stop' ? { kind: 'completed' } : { kind: 'limited' };
    case 'cancelled':
      return { kind: 'aborted' };
    case 'failed':
      return { kind: 'failed', error: new DomainError('model_error', end.message).toBody() };
    case 'lost':
      return { kind: 'lost', message: end.message, alone: end.alone };
  }
}
