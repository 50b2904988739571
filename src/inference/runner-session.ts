import type { KernelRules } from './generation/kernel-rules.js';
import type { LanguageModel } from './generation/language-model.js';
import { Scheduler } from './generation/scheduler.js';
import type { TokenDecoder } from './generation/text-assembler.js';
import { ReportOutbox } from './report-outbox.js';
import type { FromRunner, ToRunner } from './runner-protocol.js';

export interface RunnerSessionOptions {
  model: LanguageModel;
  decoder: TokenDecoder;
  rows: number;
  rules?: KernelRules;
  send: (message: FromRunner) => void;
  /** Awaited between turns; must let the event loop take in messages. */
  pause: () => Promise<void>;
  /** How long after a report further steps wait for company; 0 by default. */
  gatherMs?: number;
}

/** The runner's side of the protocol once the model is open: messages in, turns as long as there is work, reports out. */
export class RunnerSession {
  private readonly scheduler: Scheduler;
  private readonly outbox: ReportOutbox;
  private received = 0;
  private turning = false;

  constructor(private readonly options: RunnerSessionOptions) {
    const { model, decoder, rows, send, rules, gatherMs = 0 } = options;
    this.outbox = new ReportOutbox(
      (report) => send({ kind: 'report', report, received: this.received, prefixBytes: model.prefixBytes ?? 0 }),
      gatherMs,
    );
    this.scheduler = new Scheduler(model, decoder, rows, (turn) => this.outbox.add(turn), { rules });
  }

  handle(message: Exclude<ToRunner, { kind: 'open' }>): void {
    this.received++;
    if (message.kind === 'generate') {
      // A chunk of its prompt takes longer than a step.
      this.outbox.flush();
      this.scheduler.add(message.request);
    } else if (message.kind === 'cancel') this.scheduler.cancel(message.id);
    else if (message.kind === 'share') this.scheduler.share(message.id);
    else for (const [id, index] of message.steps) this.scheduler.acknowledge(id, index);
    void this.work();
  }

  /** Drops cancelled rows at once; for a caller that knows no turn is under way. */
  sweep(): void {
    this.scheduler.sweep();
  }

  private async work(): Promise<void> {
    if (this.turning) return;
    this.turning = true;
    for (;;) {
      await this.options.pause();
      const before = this.received;
      const moreToDo = await this.scheduler.turn();
      if (!moreToDo && before === this.received) break;
    }
    this.turning = false;
  }
}
