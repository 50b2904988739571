import { createHash } from 'node:crypto';
import type { Tx } from '../../database/index.js';
import type { TaskRun } from '../task-handlers.js';
import type { TaskTypeEvent, TaskTypeProgress, TypedTaskRun } from './task-type.js';

const WORD = /^[a-z0-9_]{1,64}$/;
const LONGEST_PHASE = 64;

/** The author's side of one attempt. */
export class TypedRun<Input extends object, Cursor> implements TypedTaskRun<Input, Cursor> {
  readonly taskId: string;
  readonly clientId: string;
  readonly attempt: number;
  readonly metadata: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Saves that are under way. */
  private readonly saves = new Set<Promise<void>>();
  /** Why the first save that failed did: none after it is stored. */
  private failure: { reason: unknown } | null = null;

  /**
   * @param savedCursor JSON of the last cursor on disk, or null
   * @param mostBytes of the JSON of one step
   */
  constructor(
    private readonly run: TaskRun,
    readonly input: Input,
    private savedCursor: string | null,
    private readonly mostBytes: number,
  ) {
    const { task, signal } = run;
    this.taskId = task.id;
    this.clientId = task.clientId;
    this.attempt = task.attempt;
    this.metadata = task.metadata;
    this.signal = signal;
  }

  get cursor(): Cursor | null {
    return this.savedCursor === null ? null : (JSON.parse(this.savedCursor) as Cursor);
  }

  get effectKey(): string {
    const hash = createHash('sha256').update(`${this.taskId}\n${this.savedCursor ?? ''}`);
    return `${this.taskId}-${hash.digest('hex').slice(0, 32)}`;
  }

  save(cursor: Cursor, events: readonly TaskTypeEvent[] = [], write?: (tx: Tx) => Promise<void>): Promise<void> {
    const stored = this.store(cursor, events, write).catch((reason: unknown) => {
      this.failure ??= { reason };
      throw reason;
    });
    // Whoever does not await it hears of its failure at the end of the run.
    const settled = stored.catch(() => undefined).finally(() => this.saves.delete(settled));
    this.saves.add(settled);
    return stored;
  }

  progress({ phase, fraction = null, outputTokens = 0 }: TaskTypeProgress): void {
    this.run.progress({
      phase: phase.slice(0, LONGEST_PHASE),
      load_fraction: fraction === null ? null : Math.min(1, Math.max(0, fraction)),
      prompt_tokens: null,
      output_tokens: outputTokens,
    });
  }

  /** Resolves when every save is on disk; rejects with what the first that failed was refused for. */
  async saved(): Promise<void> {
    await Promise.all(this.saves);
    if (this.failure) throw this.failure.reason;
  }

  private async store(
    cursor: Cursor,
    events: readonly TaskTypeEvent[],
    write: ((tx: Tx) => Promise<void>) | undefined,
  ): Promise<void> {
    if (this.failure) throw this.failure.reason;
    const { type } = this.run.task;
    const snapshot = jsonOf(cursor, `the cursor of a task of type "${type}"`);
    const drafts = events.map(({ word, payload }) => ({ type: `${type}.${wordOf(word)}`, payload }));
    const bytes = Buffer.byteLength(snapshot) + Buffer.byteLength(jsonOf(drafts, `an event of type "${type}"`));
    if (bytes > this.mostBytes) throw tooLarge('a step', type, bytes, this.mostBytes);
    await this.run.append({ events: drafts, snapshot }, write);
    this.savedCursor = snapshot;
  }
}

/** The text of what an extension hands over. It has no line break: JSON escapes them. */
export function jsonOf(value: unknown, what: string): string {
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) throw new TypeError(`${what} must be JSON`);
  return text;
}

export function tooLarge(what: string, type: string, bytes: number, most: number): Error {
  return new Error(`${what} of a task of type "${type}" has ${bytes} bytes; LMSP_MAX_TASK_STEP_BYTES allows ${most}`);
}

function wordOf(word: string): string {
  if (WORD.test(word)) return word;
  throw new TypeError('the word of an event must be 1 to 64 characters of a-z, 0-9 and _');
}
