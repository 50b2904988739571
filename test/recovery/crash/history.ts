import type { StoredEvent } from '../../../src/tasks/task-log.js';
import type { Task } from '../../../src/tasks/task.js';
import { isTerminal, type TaskStatus } from '../../../src/tasks/task-transitions.js';
import type { StoreImage, StoredSnapshot, StoredTask } from '../../support/store-image.js';
import type { Reference } from './reference.js';

const NEW_TASK: Omit<Task, 'id' | 'responseId'> = {
  position: 1,
  type: 'response',
  clientId: 'cli_1',
  model: 'pocket',
  status: 'queued',
  onRestart: 'resume',
  background: true,
  attempt: 0,
  interruptions: 0,
  maxInterruptions: 3,
  startCount: 0,
  owner: null,
  suspicion: 0,
  lastSequenceNumber: -1,
  input: null,
  result: null,
  error: null,
  metadata: { label: 'sum#1' },
  createdAt: 1,
  updatedAt: 1,
  startedAt: null,
  finishedAt: null,
  cancelRequestedAt: null,
  eventsExpiredAt: null,
};

const EVENT_OF: Record<string, string> = {
  queued: 'response.queued',
  loading: 'response.in_progress',
  running: 'response.in_progress',
  cancelling: 'response.in_progress',
  completed: 'response.completed',
  failed: 'response.failed',
  cancelled: 'response.cancelled',
};

/** The answer that histories give: three tokens, the last of which ends it. */
export const SUM: Reference = {
  status: 'completed',
  text: '2 + 3',
  usage: { input_tokens: 4, output_tokens: 3, total_tokens: 7 },
  tokenIds: [11, 12, 2],
  deltas: ['2 +', ' 3'],
  marks: [
    { tokens: 0, deltas: 0 },
    { tokens: 1, deltas: 1 },
    { tokens: 2, deltas: 2 },
    { tokens: 3, deltas: 2 },
  ],
};

/** A task's rows as a right service writes them, made transition by transition; tests break them afterwards. */
export class History {
  readonly task: Task;
  private readonly events: StoredEvent[] = [];
  private readonly snapshots: StoredSnapshot[] = [];
  private response: StoredTask['response'] = null;
  private tokens = 0;
  private replayed = 0;
  private text: string | null = null;
  private itemStatus = 'in_progress';

  constructor(task: Partial<Task> = {}, suffix = 'a') {
    this.task = { ...NEW_TASK, id: `task_${suffix}`, responseId: `resp_${suffix}`, ...task };
    this.lifecycle('queued', 'response.created');
    this.lifecycle('queued');
  }

  /** A status change with its event. */
  to(status: TaskStatus, change: Partial<Task> = {}): this {
    const claimed = status === 'loading' || (status === 'running' && this.task.status === 'queued');
    if (claimed) Object.assign(this.task, { attempt: this.task.attempt + 1, owner: `run_${this.task.attempt + 1}` });
    if (status === 'queued') {
      Object.assign(this.task, { startCount: this.task.startCount + 1 });
      this.tokens = 0;
      this.replayed = 0;
      this.text = null;
    }
    if (status === 'queued' || isTerminal(status)) Object.assign(this.task, { owner: null });
    if (isTerminal(status)) Object.assign(this.task, { finishedAt: 9 });
    Object.assign(this.task, change);
    const runtime = status === 'failed' && change.error?.code !== 'server_restarted';
    if (runtime) this.append('error', { error: change.error });
    this.lifecycle(status);
    return this;
  }

  /** Row 18. */
  resume(change: Partial<Task> = {}): this {
    return this.to('running', { owner: null, ...change });
  }

  /** Row 20. */
  takeUp(): this {
    Object.assign(this.task, { attempt: this.task.attempt + 1, owner: 'run_again' });
    this.replayed = this.tokens;
    return this;
  }

  /** The next token of the answer. */
  step(): this {
    const { deltas, tokenIds, text } = SUM;
    const item_id = `msg_${this.task.startCount}`;
    const place = { item_id, output_index: 0, content_index: 0 };
    if (this.text === null) {
      this.append('response.output_item.added', { output_index: 0, item: this.item([]) });
      this.append('response.content_part.added', { ...place, part: part('') });
      this.text = '';
    }
    const delta = deltas[this.tokens];
    if (delta !== undefined) {
      this.append('response.output_text.delta', { ...place, delta });
      this.text += delta;
    } else {
      this.itemStatus = 'completed';
      this.append('response.output_text.done', { ...place, text });
      this.append('response.content_part.done', { ...place, part: part(text) });
      this.append('response.output_item.done', { output_index: 0, item: this.item([part(text)]) });
    }
    const lines = [String(tokenIds[this.tokens])];
    this.snapshots.push({
      startCount: this.task.startCount,
      lastSequenceNumber: this.task.lastSequenceNumber,
      lines,
    });
    this.tokens += 1;
    return this;
  }

  /** All three tokens, then row 6. */
  finish(): this {
    while (this.tokens < SUM.tokenIds.length) this.step();
    return this.to('completed');
  }

  /** A copy of the rows as they stand, which may be broken. */
  stored(): StoredTask {
    const { task, events, snapshots, response } = this;
    return structuredClone({ task, events, snapshots, response, keys: [] });
  }

  private item(content: object[]): object {
    return {
      id: `msg_${this.task.startCount}`,
      type: 'message',
      status: this.itemStatus,
      role: 'assistant',
      content,
    };
  }

  private lifecycle(status: TaskStatus, type = EVENT_OF[status] ?? ''): void {
    const { task } = this;
    Object.assign(task, { status });
    const wire = ['loading', 'running', 'cancelling'].includes(status) ? 'in_progress' : status;
    const { input_tokens } = SUM.usage;
    const usage = { input_tokens, output_tokens: this.tokens, total_tokens: input_tokens + this.tokens };
    const open = this.itemStatus === 'in_progress' && isTerminal(status);
    const shown = (): object => ({ ...this.item([part(this.text ?? '')]), ...(open && { status: 'incomplete' }) });
    const snapshot = {
      id: task.responseId,
      status: wire,
      error: task.error,
      output: this.text === null ? [] : [shown()],
      usage: isTerminal(status) ? usage : null,
      metadata: task.metadata,
      lmsp: {
        task_status: status,
        attempt: task.attempt,
        on_restart: task.onRestart,
        seed: 1,
        replayed_tokens: this.replayed,
      },
    };
    this.append(type, { response: snapshot });
    this.response = {
      id: task.responseId ?? '',
      status: wire,
      body: JSON.stringify(snapshot),
      bodySequenceNumber: task.lastSequenceNumber,
      finishedAt: task.finishedAt,
    };
  }

  private append(type: string, payload: object): void {
    const number = this.task.lastSequenceNumber + 1;
    Object.assign(this.task, { lastSequenceNumber: number });
    this.events.push({
      sequenceNumber: number,
      type,
      payload: JSON.stringify({ type, sequence_number: number, ...payload }),
    });
  }
}

function part(text: string): object {
  return { type: 'output_text', text, annotations: [], logprobs: [] };
}

export function imageOf(...stored: StoredTask[]): StoreImage {
  return { tasks: new Map(stored.map((each) => [each.task.id, each])), faults: [] };
}

/** Gives one field of an event's payload another value, as a test breaks it: `response.lmsp.attempt`. */
export function rewrite(stored: StoredTask, number: number, path: string, value: unknown): void {
  const event = stored.events[number];
  if (!event) throw new Error(`there is no event ${number}`);
  const body = JSON.parse(event.payload) as Record<string, unknown>;
  const names = path.split('.');
  const field = names.pop() ?? '';
  let inner = body;
  for (const name of names) inner = inner[name] as Record<string, unknown>;
  inner[field] = value;
  event.payload = JSON.stringify(body);
}
