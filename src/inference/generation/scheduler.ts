import type { GenerationEnd, GenerationRequest, KernelClass } from '../inference-engine.js';
import { ONE_CLASS, partner, wantedClass, type KernelRules } from './kernel-rules.js';
import type { LanguageModel } from './language-model.js';
import { logprobsOf } from './logprobs.js';
import { CHUNK_FIXED, nextChunk, PrefillPace } from './prefill-plan.js';
import { Row } from './row.js';
import { Sampler } from './sampler.js';
import type { TokenDecoder } from './text-assembler.js';
import { emptyReport, type TurnReport } from './turn-report.js';

export interface SchedulerOptions {
  rules?: KernelRules;
  /** Milliseconds; only the sizes of chunks depend on it. */
  clock?: () => number;
}

/**
 * Continuous batching (ENGINE 4.4). A turn: drop cancelled rows → admit → one prefill chunk → one decode step of all
 * rows. Decoding rows are the cache rows 0..n-1, the one prefilling row is n, so a decode run is one block of memory.
 * A paused row (its steps are not on disk yet) runs along when others run; its result is thrown away, and the same
 * token is taken in again later, which changes nothing. So does a row whose next token of the log was once decoded
 * alone, where that makes a difference: it then has a run of its own.
 */
export class Scheduler {
  private readonly known = new Map<string, Row>();
  private readonly waiting: Row[] = [];
  private prefilling: Row | null = null;
  private readonly decoding: Row[] = [];
  private readonly sampler: Sampler;
  private readonly pace = new PrefillPace();
  private readonly rules: KernelRules;
  private readonly clock: () => number;
  private report: TurnReport = emptyReport();

  constructor(
    private readonly model: LanguageModel,
    private readonly decoder: TokenDecoder,
    private readonly rows: number,
    private readonly emit: (report: TurnReport) => void,
    { rules = ONE_CLASS, clock = () => performance.now() }: SchedulerOptions = {},
  ) {
    this.rules = rules;
    this.clock = clock;
    // A vocabulary may be padded beyond the tokenizer's last id: such ids are never drawn.
    this.sampler = new Sampler(Math.min(model.vocabularySize, decoder.size));
  }

  add(request: GenerationRequest): void {
    let row: Row;
    try {
      row = new Row(request, this.decoder, this.model.contextLength);
    } catch (error) {
      this.report.ended.push([request.id, { outcome: 'failed', message: (error as Error).message }]);
      return;
    }
    this.known.set(request.id, row);
    if (row.rebuilt.length > 0) this.report.rebuilt.push([request.id, row.rebuilt]);
    const finish = row.rebuilt.at(-1)?.finish ?? null;
    if (finish === null) this.waiting.push(row);
    else this.end(row, { outcome: 'finished', finish });
  }

  /** Marks the row; it leaves at the beginning of the next turn. */
  cancel(id: string): void {
    const row = this.known.get(id);
    if (row) row.cancelled = true;
  }

  /** Others may run beside it from the next turn on. */
  share(id: string): void {
    const row = this.known.get(id);
    if (row) row.alone = false;
  }

  /** Steps 0..index of the generation are on disk. */
  acknowledge(id: string, index: number): void {
    const row = this.known.get(id);
    if (row) row.acknowledged = Math.max(row.acknowledged, index + 1);
  }

  /** One turn, then one report. Resolves with whether another turn has work to do; never two at a time. */
  async turn(): Promise<boolean> {
    this.dropCancelled();
    const { lone } = this;
    this.admit(lone);
    const decoding = this.decoding.length;
    // A prompt that was on its way when the lone row came holds the place that its own needs.
    await this.prefillChunk();
    if (lone === null || this.waiting.includes(lone)) await this.decodeStep(decoding);
    else await this.decodeLone(lone, decoding);
    return this.sendReport();
  }

  /** The row that runs beside nothing else; while it waits for a place, the others go on, and none is taken in before it. */
  private get lone(): Row | null {
    for (const row of this.known.values()) if (row.alone) return row;
    return null;
  }

  /** Drops cancelled rows without running the model; must not overlap a turn. */
  sweep(): void {
    this.dropCancelled();
    this.sendReport();
  }

  private dropCancelled(): void {
    for (let i = this.waiting.length - 1; i >= 0; i--) {
      if (this.waiting[i]!.cancelled) this.end(this.waiting.splice(i, 1)[0]!, { outcome: 'cancelled' });
    }
    if (this.prefilling?.cancelled) {
      this.end(this.prefilling, { outcome: 'cancelled' });
      this.prefilling = null;
    }
    for (let i = this.decoding.length - 1; i >= 0; i--) {
      if (!this.decoding[i]!.cancelled) continue;
      this.end(this.decoding[i]!, { outcome: 'cancelled' });
      this.leave(i);
    }
  }

  private admit(lone: Row | null): void {
    if (this.prefilling !== null || this.decoding.length >= this.rows) return;
    const row = lone ?? this.waiting[0];
    const place = row === undefined ? -1 : this.waiting.indexOf(row);
    if (row === undefined || place < 0) return;
    this.waiting.splice(place, 1);
    this.prefilling = row;
    row.past = row.reused = this.model.admit?.(this.decoding.length, row.request) ?? 0;
  }

  private async prefillChunk(): Promise<void> {
    const row = this.prefilling;
    if (row === null) return;
    const { id, promptIds } = row.request;
    const size = this.rules.fixedChunks ? CHUNK_FIXED : this.pace.chunk(this.decoding.length > 0);
    const until = row.past + nextChunk(promptIds.length - row.past, size);
    let logits: Float32Array;
    try {
      const since = this.clock();
      const run = this.model.prefill(this.decoding.length, promptIds.slice(row.past, until), row.past);
      row.prepare();
      logits = await run;
      this.pace.prefilled(until - row.past, this.clock() - since);
    } catch (error) {
      this.prefilling = null;
      this.fail(row, error);
      return;
    }
    row.past = until;
    this.report.prefilled.push([id, until, row.reused]);
    if (until < promptIds.length) return;
    this.prefilling = null;
    if (this.advance(row, logits, 'alone')) this.decoding.push(row);
  }

  /** `count`: the rows that were decoding when the turn began, so that a turn makes at most one step of a row. */
  private async decodeStep(count: number): Promise<void> {
    const rows = this.decoding.slice(0, count);
    const apart = rows.map((row) => count > 1 && wantedClass(row, this.rules) === 'alone');
    const together = rows.map((row, i) => !row.paused && !apart[i]);
    const left = new Set<number>();
    if (together.includes(true) && !(await this.decodeTogether(rows, together, left))) return;
    for (const [i, row] of rows.entries()) {
      if (apart[i] && !(await this.decodeApart(row, i))) left.add(i);
    }
    for (const i of [...left].sort((a, b) => b - a)) this.leave(i);
  }

  /** One run of all rows; those of `taking` take its result. False when it failed, and all its rows are gone. */
  private async decodeTogether(rows: Row[], taking: boolean[], left: Set<number>): Promise<boolean> {
    const inputs = rows.map((row) => ({ tokenId: row.nextToken, past: row.past }));
    const lone = rows.length === 1 ? rows[0] : undefined;
    if (lone && wantedClass(lone, this.rules) === 'batch') inputs.push(partner(this.decoding[1] ?? this.prefilling));
    let logits: Float32Array[];
    try {
      const since = this.clock();
      const run = this.model.decode(inputs, 0);
      for (const row of rows) row.prepare();
      logits = await run;
      this.pace.decoded(this.clock() - since);
    } catch (error) {
      this.failAll(rows.length, error);
      return false;
    }
    const kernelClass = inputs.length === 1 ? 'alone' : 'batch';
    rows.forEach((row, i) => {
      if (!taking[i]) return;
      row.past++;
      if (!this.advance(row, logits[i]!, kernelClass)) left.add(i);
    });
    return true;
  }

  /** The step of a row whose neighbours are paused; `count` as in decodeStep. */
  private async decodeLone(row: Row, count: number): Promise<void> {
    const index = this.decoding.indexOf(row);
    if (index < 0 || index >= count || row.paused) return;
    if (!(await this.decodeApart(row, index))) this.leave(index);
  }

  /** A run of one row among others, with a partner where its kernels must be a batch's. False when it has ended. */
  private async decodeApart(row: Row, index: number): Promise<boolean> {
    const kernelClass = wantedClass(row, this.rules) ?? 'alone';
    const inputs = [{ tokenId: row.nextToken, past: row.past }];
    const before = kernelClass === 'batch' && index > 0 ? 1 : 0;
    if (before === 1) inputs.unshift(partner(this.decoding[index - 1]!));
    else if (kernelClass === 'batch') inputs.push(partner(this.decoding[index + 1] ?? this.prefilling));
    try {
      const run = this.model.decode(inputs, index - before);
      row.prepare();
      const logits = await run;
      row.past++;
      return this.advance(row, logits[before]!, kernelClass);
    } catch (error) {
      this.fail(row, error);
      return false;
    }
  }

  /** The run is one for all rows: none of them has a usable result, and which one is at fault is not known. */
  private failAll(count: number, error: unknown): void {
    for (const row of this.decoding.splice(0, count)) this.fail(row, error);
    const next = this.decoding[0] ?? this.prefilling;
    if (next) this.model.move(count, 0, next.past);
  }

  /** Draws the row's next token and reports the step. False when the generation has ended with it. */
  private advance(row: Row, logits: Float32Array, kernelClass: KernelClass): boolean {
    const { id, sampling, seed } = row.request;
    if (row.logged !== undefined) {
      row.take(row.logged);
      this.report.replayed.push([id, row.steps]);
      return true;
    }
    try {
      const tokenId = this.sampler.draw(logits, sampling, row.history, {
        seed,
        index: row.steps,
        allowed: row.constrained?.allowed,
      });
      const logprobs = logprobsOf(logits, tokenId, row.request.topLogprobs, this.decoder);
      row.take(tokenId);
      const { index, text, finish } = row.assemble(tokenId);
      this.report.steps.push([id, { index, tokenId, kernelClass, text, finish, ...(logprobs && { logprobs }) }]);
      if (finish === null) return true;
      this.end(row, { outcome: 'finished', finish });
    } catch (error) {
      this.fail(row, error);
    }
    return false;
  }

  /** Closes the hole: the last decoding row moves into it, the prefilling row follows up behind them. */
  private leave(index: number): void {
    const last = this.decoding.length - 1;
    const mover = this.decoding.pop()!;
    if (index !== last) {
      this.decoding[index] = mover;
      this.model.move(last, index, mover.past);
    }
    if (this.prefilling) this.model.move(last + 1, last, this.prefilling.past);
  }

  private fail(row: Row, error: unknown): void {
    this.end(row, { outcome: 'failed', message: error instanceof Error ? error.message : String(error) });
  }

  private end(row: Row, end: GenerationEnd): void {
    this.known.delete(row.request.id);
    this.report.ended.push([row.request.id, end]);
  }

  private sendReport(): boolean {
    const { lone } = this;
    const pausing = lone !== null && !this.waiting.includes(lone);
    const canAdmit = this.waiting.length > 0 && !pausing && this.decoding.length < this.rows;
    const decodes = this.decoding.some((row) => !row.paused && (!pausing || row === lone));
    const runnable = this.prefilling !== null || canAdmit || decodes;
    const report = this.report;
    this.report = emptyReport();
    this.emit({ ...report, idle: !runnable });
    return runnable;
  }
}
