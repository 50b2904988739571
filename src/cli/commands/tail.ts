import type { TaskObject } from '../api-objects.js';
import { CliError, ConnectionLost } from '../cli-errors.js';
import { EXIT } from '../exit-codes.js';
import { onInterrupt } from '../interrupts.js';
import { Outage } from '../outage.js';
import type { Session } from '../session.js';
import { queryText, taskId } from '../task-api.js';
import { isLast, Transcript, type ResponseEvent } from '../transcript.js';

/** What a lifecycle event says of its task, whatever type it has. */
interface Stand {
  status: string;
  attempt: number;
  error: { code: string; message: string } | null;
}

type TailEvent = ResponseEvent & { task?: Stand; file?: string; bytes?: number; total_bytes?: number };

/** `lmsp tasks tail`: a task's text as it comes, across restarts of the service. */
export async function tail(session: Session, typed: string, { from = 0 }: { from?: number }): Promise<number> {
  const reader = new TailReader(session, await taskId(session.api, typed), from);
  const done = onInterrupt(() => {
    session.terminal.note(`\nthe task goes on; come back with: ${reader.resumeCommand}`);
    process.exit(EXIT.interrupted);
  });
  try {
    return await reader.run();
  } finally {
    done();
  }
}

const RULE = '―'.repeat(40);

class TailReader {
  private readonly transcript: Transcript;
  private readonly outage: Outage;
  private stand: Stand | null = null;
  private isConnected = false;
  private endsLine = true;

  constructor(
    private readonly session: Session,
    private readonly id: string,
    private next: number,
  ) {
    this.transcript = new Transcript(next === 0);
    this.outage = new Outage(session);
  }

  get resumeCommand(): string {
    return `lmsp tasks tail ${this.id} --from ${this.next}`;
  }

  async run(): Promise<number> {
    for (;;) {
      try {
        const exit = await this.connect();
        if (exit !== null) return exit;
        // Closed without the last event: the service stops (WIRE B5).
        throw new ConnectionLost();
      } catch (error) {
        // Whoever never reached the service is told so at once.
        if (!this.isConnected) throw error;
        await this.outage.wait(error);
      }
    }
  }

  /** Follows one connection; null when it ended before the task did. */
  private async connect(): Promise<number | null> {
    const { api, terminal } = this.session;
    const path = `/v1/tasks/${this.id}/events?${queryText({ starting_after: this.next - 1 })}`;
    const events = await api.events('GET', path);
    this.isConnected = true;
    this.outage.over();
    if (events === null) return await this.end(await this.task());
    for await (const { data } of events) {
      const event = JSON.parse(data) as TailEvent;
      this.next = event.sequence_number + 1;
      if (terminal.format === 'jsonl') terminal.rawJson(data);
      if (terminal.format === 'table') this.show(event);
      const stand = standOf(event);
      if (stand !== null && isLast(event.type)) return await this.end(stand);
    }
    return null;
  }

  private task(): Promise<TaskObject> {
    return this.session.api.json('GET', `/v1/tasks/${this.id}`);
  }

  private show(event: TailEvent): void {
    const { text, isRestart } = this.transcript.add(event);
    if (isRestart) this.rule();
    if (text !== '') {
      this.session.terminal.text(text);
      this.endsLine = text.endsWith('\n');
    }
    const { file, bytes = 0, total_bytes: total = 0 } = event;
    if (event.type === 'model.pull.progress' && total > 0)
      this.session.terminal.aside(`${Math.floor((bytes / total) * 100)} % · ${file ?? ''}`);
    const stand = standOf(event);
    if (stand !== null) this.tell(stand);
  }

  /** What follows belongs to another attempt than what stands above. */
  private rule(): void {
    this.session.terminal.text(`${this.endsLine ? '' : '\n'}\n${RULE}\n\n`);
    this.endsLine = true;
  }

  private tell(stand: Stand): void {
    const before = this.stand;
    this.stand = stand;
    if (before?.status === stand.status && before.attempt === stand.attempt) return;
    const attempt = stand.attempt > 1 && stand.attempt !== before?.attempt ? `, attempt ${stand.attempt}` : '';
    // Within a line of text a note would stand in its middle.
    const clear = this.session.terminal.isInteractive && !this.endsLine ? '\n' : '';
    const step =
      before === null || before.status === stand.status ? stand.status : `${before.status} → ${stand.status}`;
    this.session.terminal.aside(`${clear}${step}${attempt}`);
  }

  private async end(stand: Stand): Promise<number> {
    const { terminal } = this.session;
    if (!this.endsLine) terminal.text('\n');
    if (terminal.format === 'json') terminal.json(await this.task());
    if (stand.status === 'completed') return EXIT.done;
    const reason = stand.error ? `: ${stand.error.message} (${stand.error.code})` : '';
    throw new CliError(
      EXIT.failed,
      `the task ${stand.status === 'failed' ? 'failed' : `was ${stand.status}`}${reason}`,
    );
  }
}

function standOf({ response, task }: TailEvent): Stand | null {
  if (task) return task;
  if (!response) return null;
  return { status: response.lmsp.task_status, attempt: response.lmsp.attempt, error: response.error };
}
