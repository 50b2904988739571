import { DomainError, ServiceStopping } from '../../errors/index.js';
import type { OutputConstraint } from '../output-constraint.js';
import type { ChatMessage, ChatOptions, EncodedChat, PromptCodec, TextOptions } from '../prompt-codec.js';
import { takeBatch, type WaitingPrompt } from './prompt-batch.js';
import { TextProcess } from './text-process.js';
import type { TextJob, TextResult, TextValue } from './text-protocol.js';

export interface WorkerPromptCodecOptions {
  workers: number;
  /** Longest time for one prompt, the worker's start included. */
  timeoutMs: number;
  /** Prompts that may wait for a worker. */
  maxWaiting: number;
  /** Compiled entry of the worker. */
  entry?: string | URL;
}

interface Task extends WaitingPrompt {
  settle: (outcome: TextResult | DomainError) => void;
}

/** A place for one worker, and what it is busy with. */
interface Seat {
  worker: TextProcess | null;
  tasks: Task[];
  timer?: NodeJS.Timeout;
}

/**
 * Prompts are rendered and tokenized by worker processes: a long one takes longer than the event loop may be held. Short
 * ones that came while a worker was busy go to it together. One that exceeds its time or memory loses its worker, and
 * the next prompt gets a new one.
 */
export class WorkerPromptCodec implements PromptCodec {
  private readonly seats: Seat[];
  private readonly waiting: Task[] = [];
  private closed = false;

  constructor(private readonly options: WorkerPromptCodecOptions) {
    this.seats = Array.from({ length: options.workers }, () => ({ worker: null, tasks: [] }));
  }

  encodeChat(directory: string, messages: ChatMessage[], options: ChatOptions = {}): Promise<EncodedChat> {
    return this.submit({ kind: 'chat', directory, messages, ...options });
  }

  encodeText(directory: string, text: string, options: TextOptions = {}): Promise<number[]> {
    return this.submit({ kind: 'text', directory, text, ...options });
  }

  decode(directory: string, tokens: readonly number[]): Promise<string> {
    return this.submit({ kind: 'decode', directory, tokens });
  }

  async checkConstraint(directory: string, constraint: OutputConstraint, places: readonly string[]): Promise<void> {
    await this.submit<null>({ kind: 'constraint', directory, constraint, places });
  }

  /** Work under way and waiting is refused; settles when the workers are gone. */
  async close(): Promise<void> {
    this.closed = true;
    for (const task of this.waiting.splice(0)) task.settle(new ServiceStopping());
    const workers = this.seats.map(({ worker }) => worker);
    for (const seat of this.seats) this.leave(seat, new ServiceStopping());
    await Promise.all(workers.map((worker) => worker?.gone ?? Promise.resolve()));
  }

  /** The kind of job says what its value is. */
  private submit<V extends TextValue>(job: TextJob): Promise<V> {
    if (this.closed) return Promise.reject(new ServiceStopping());
    if (this.waiting.length >= this.options.maxWaiting) {
      return Promise.reject(new DomainError('queue_full', 'too many prompts are waiting to be read'));
    }
    return new Promise((resolve, reject) => {
      const settle = (outcome: TextResult | DomainError): void => {
        if (outcome instanceof DomainError) reject(outcome);
        else if ('value' in outcome) resolve(outcome.value as V);
        else reject(new DomainError(outcome.error.code, outcome.error.message, { param: outcome.error.param }));
      };
      this.waiting.push({ job, alone: false, settle });
      this.dispatch();
    });
  }

  private dispatch(): void {
    if (this.closed) return;
    const idle = this.seats.filter(({ tasks }) => tasks.length === 0);
    for (const [i, seat] of idle.entries()) {
      if (this.waiting.length > 0) this.start(seat, takeBatch(this.waiting, idle.length - i));
    }
  }

  private start(seat: Seat, tasks: Task[]): void {
    const { timeoutMs } = this.options;
    const tooLong = (): void =>
      this.leave(seat, new DomainError('server_error', `the prompt took longer than ${timeoutMs} ms to read`));
    seat.tasks = tasks;
    seat.timer = setTimeout(tooLong, timeoutMs);
    seat.worker ??= this.spawn(seat);
    const jobs = tasks.map(({ job }) => job);
    // The worker's own limit only matters when this process is gone; it must never come first.
    seat.worker.perform(jobs, 2 * timeoutMs, (results) => {
      this.vacate(seat).forEach((task, i) => task.settle(results[i]!));
      this.dispatch();
    });
  }

  private spawn(seat: Seat): TextProcess {
    const worker = new TextProcess(this.options.entry ?? new URL('./text-worker.js', import.meta.url));
    void worker.gone.then((how) => {
      if (seat.worker === worker)
        this.leave(seat, new DomainError('server_error', `the reader of the prompt ended with ${how}`));
    });
    return worker;
  }

  /** The worker is given up, and with it the prompt it has; of several, the one to blame shows when each is alone. */
  private leave(seat: Seat, error: DomainError): void {
    const { worker } = seat;
    seat.worker = null;
    worker?.kill();
    const tasks = this.vacate(seat);
    if (tasks.length > 1 && !this.closed) this.waiting.unshift(...tasks.map((task) => ({ ...task, alone: true })));
    else for (const task of tasks) task.settle(error);
    this.dispatch();
  }

  private vacate(seat: Seat): Task[] {
    clearTimeout(seat.timer);
    return seat.tasks.splice(0);
  }
}
