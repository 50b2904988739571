import { CliError, UsageError } from '../cli-errors.js';
import { EXIT } from '../exit-codes.js';
import { onInterrupt } from '../interrupts.js';
import { printObject } from '../listing.js';
import type { Session } from '../session.js';
import { isLast, Transcript, type ResponseEvent, type ResponseSnapshot } from '../transcript.js';

export interface RunOptions {
  system?: string;
  maxTokens?: number;
  temperature?: number;
  seed?: number;
  background?: boolean;
  onRestart?: string;
  stream?: boolean;
}

/** `lmsp run`: one response, its text as it comes. */
export async function run(
  session: Session,
  model: string,
  prompt: string | undefined,
  options: RunOptions,
): Promise<number> {
  const body = {
    model,
    input: await promptOf(prompt),
    ...(options.system !== undefined && { instructions: options.system }),
    ...(options.maxTokens !== undefined && { max_output_tokens: options.maxTokens }),
    ...(options.temperature !== undefined && { temperature: options.temperature }),
    ...(options.seed !== undefined && { seed: options.seed }),
    ...(options.onRestart !== undefined && { on_restart: options.onRestart }),
  };
  if (options.background === true) return enqueue(session, body);
  return new Foreground(session, options.stream !== false).run(body);
}

async function promptOf(prompt: string | undefined): Promise<string> {
  if (prompt !== undefined && prompt !== '-') return prompt;
  if (process.stdin.isTTY && prompt === undefined)
    throw new UsageError('a prompt is missing: lmsp run MODEL "…", or - for standard input');
  const { text } = await import('node:stream/consumers');
  const input = (await text(process.stdin)).replace(/\r?\n$/, '');
  if (input === '') throw new UsageError('the prompt on standard input is empty');
  return input;
}

/** A task that needs nobody to wait for it. */
async function enqueue(session: Session, body: object): Promise<number> {
  const response = await session.api.json<ResponseSnapshot>('POST', '/v1/responses', {
    body: { ...body, background: true },
  });
  const task = response.lmsp.task_id ?? '';
  if (session.terminal.format === 'table') session.terminal.line(task);
  else printObject(session, response, {});
  session.terminal.aside(`follow it with: lmsp tasks tail ${task}`);
  return EXIT.done;
}

/** A response that is cancelled when its reader leaves. */
class Foreground {
  private readonly transcript = new Transcript();
  private readonly connection = new AbortController();
  private readonly startedAt = performance.now();
  private firstTextAt: number | null = null;
  private id: string | null = null;
  private wasInterrupted = false;
  private shown = '';

  constructor(
    private readonly session: Session,
    private readonly streams: boolean,
  ) {}

  async run(body: object): Promise<number> {
    const done = onInterrupt(() => this.cancel());
    try {
      return await this.follow(body);
    } catch (error) {
      if (this.wasInterrupted) return EXIT.interrupted;
      throw error;
    } finally {
      done();
    }
  }

  private async follow(body: object): Promise<number> {
    const { api, terminal } = this.session;
    const request = { body: { ...body, stream: true }, signal: this.connection.signal };
    const events = await api.events('POST', '/v1/responses', request);
    for await (const { data } of events ?? []) {
      if (terminal.format === 'jsonl') terminal.rawJson(data);
      const event = JSON.parse(data) as ResponseEvent;
      this.take(event);
      if (event.response && isLast(event.type)) return this.end(event.response);
    }
    throw new CliError(EXIT.failed, 'the service stopped before the answer was whole');
  }

  private take(event: ResponseEvent): void {
    this.id = event.response?.id ?? this.id;
    const { text } = this.transcript.add(event);
    if (text === '') return;
    this.firstTextAt ??= performance.now();
    this.shown += text;
    if (this.streams && this.session.terminal.format === 'table') this.session.terminal.text(text);
  }

  private end(response: ResponseSnapshot): number {
    const { terminal, options } = this.session;
    if (terminal.format === 'json') terminal.json(response);
    if (terminal.format === 'table') {
      if (!this.streams) terminal.text(this.shown);
      if (this.shown !== '' && !this.shown.endsWith('\n')) terminal.text('\n');
    }
    if (options.verbose) terminal.aside(this.figures(response));
    if (response.status === 'failed') {
      const { code, message } = response.error ?? { code: 'server_error', message: 'the response failed' };
      throw new CliError(EXIT.failed, `${message} (${code})`);
    }
    if (response.status === 'incomplete')
      terminal.aside(`cut off: ${response.incomplete_details?.reason ?? 'incomplete'}`);
    if (response.status !== 'cancelled') return EXIT.done;
    terminal.note('cancelled');
    return this.wasInterrupted ? EXIT.interrupted : EXIT.failed;
  }

  private figures({ model, usage, lmsp }: ResponseSnapshot): string {
    const first = this.firstTextAt;
    const seconds = first === null ? 0 : (performance.now() - first) / 1000;
    const rate = usage && seconds > 0 ? `${(usage.output_tokens / seconds).toFixed(1)} tokens/s` : null;
    return [
      model,
      usage && `${usage.input_tokens} + ${usage.output_tokens} tokens`,
      first !== null && `first text after ${((first - this.startedAt) / 1000).toFixed(2)} s`,
      rate,
      lmsp.task_id,
    ]
      .filter(Boolean)
      .join(' · ');
  }

  /** The first Ctrl-C. Where nothing was accepted yet, closing the connection is the cancel. */
  private cancel(): void {
    this.wasInterrupted = true;
    if (this.id === null) return this.connection.abort();
    this.session.terminal.note('cancelling…; Ctrl-C again leaves at once');
    this.session.api.json('POST', `/v1/responses/${this.id}/cancel`).catch(() => this.connection.abort());
  }
}
