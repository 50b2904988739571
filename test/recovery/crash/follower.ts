import { setTimeout as delay } from 'node:timers/promises';
import { isTerminalEvent, type TaskStatus } from '../../../src/tasks/task-transitions.js';
import type { Answer, Connection } from './connection.js';
import { FrameReader, type Frame } from './event-frames.js';
import type { KillSwitch } from './kill-switch.js';
import type { Observations, ObservedState } from './observations.js';

/** The ways a client can learn what becomes of its task (WIRE B5). */
export const WAYS = ['task-events', 'response-stream', 'pages', 'polls'] as const;
export type Way = (typeof WAYS)[number];

/** One service process, as its clients meet it. */
export interface Meeting {
  connection: Connection;
  kill: KillSwitch;
}

interface EventBody {
  type: string;
  sequence_number: number;
  response?: { lmsp: { task_status: TaskStatus } };
}

const PAGE = 50;
const PAUSE_MS = 30;

/** Follows one task to its end, over any number of service processes: it goes on behind the last event it has seen. */
export class Follower {
  done = false;
  /** Number of the last event seen. */
  last = -1;

  constructor(
    readonly taskId: string,
    private readonly way: Way,
    private readonly observations: Observations,
  ) {}

  /** Resolves when the task has ended or the service has. */
  async follow(meeting: Meeting): Promise<void> {
    while (!this.done && meeting.kill.alive) {
      if (this.way === 'pages') await this.page(meeting);
      else if (this.way === 'polls') await this.poll(meeting);
      else await this.stream(meeting);
    }
    if (this.done && meeting.kill.alive) await this.readEnd(meeting);
  }

  /** One frame of a stream of this task, whichever it is. */
  frame({ id, event, data }: Frame, kill: KillSwitch): void {
    if (data === '[DONE]') return;
    const body = this.event(data, kill);
    const named = event === body.type && (id === null || Number(id) === body.sequence_number);
    if (!named) this.fault('B5', `a frame is named ${event} ${id}, its data ${body.type} ${body.sequence_number}`);
  }

  private event(data: string, kill: KillSwitch): EventBody {
    const body = JSON.parse(data) as EventBody;
    const { type, sequence_number: number } = body;
    if (number !== this.last + 1) this.fault('invariant 1', `event ${number} was sent behind ${this.last}`);
    this.last = number;
    this.observations.event(this.taskId, number, data);
    if (isTerminalEvent(type)) this.done = true;
    kill.event(type, body.response?.lmsp.task_status ?? null);
    return body;
  }

  private async stream({ connection, kill }: Meeting): Promise<void> {
    const frames = new FrameReader((frame) => this.frame(frame, kill));
    const asTask = this.way === 'task-events';
    const headers: Record<string, string> = { accept: 'text/event-stream' };
    if (asTask && this.last >= 0) headers['last-event-id'] = String(this.last);
    const path = asTask
      ? `/v1/tasks/${this.taskId}/events`
      : `${this.response}?stream=true&starting_after=${this.last}`;
    const answer = await connection.send('GET', path, { headers, onText: (text) => frames.push(text) });
    if (!this.expected(answer, kill, [200, 204])) return;
    if (answer.status === 204 || this.done) this.done = true;
    else if (kill.alive) this.fault('B5', 'a stream ended without the end of its task');
  }

  private async page({ connection, kill }: Meeting): Promise<void> {
    const path = `/v1/tasks/${this.taskId}/events?starting_after=${this.last}&limit=${PAGE}`;
    const answer = await connection.send('GET', path, { headers: { accept: 'application/json' } });
    if (!this.expected(answer, kill, [200])) return;
    const { data, has_more: more } = JSON.parse(answer.body) as { data: EventBody[]; has_more: boolean };
    // The list is made of the stored texts, and JSON without white space comes back as it was.
    for (const event of data) this.event(JSON.stringify(event), kill);
    if (!more && !this.done) await delay(PAUSE_MS);
  }

  private async poll({ connection, kill }: Meeting): Promise<void> {
    const answer = await connection.send('GET', `/v1/tasks/${this.taskId}`);
    if (!this.expected(answer, kill, [200])) return;
    const { status, attempt, last_sequence_number } = JSON.parse(answer.body) as ObservedState;
    this.observations.of(this.taskId).states.push({ status, attempt, last_sequence_number });
    this.done = ['completed', 'failed', 'cancelled'].includes(status);
    kill.event('', status);
    if (!this.done) await delay(PAUSE_MS);
  }

  private async readEnd({ connection, kill }: Meeting): Promise<void> {
    const answer = await connection.send('GET', this.response);
    if (this.expected(answer, kill, [200])) this.observations.of(this.taskId).ends.add(answer.body);
  }

  private get response(): string {
    return `/v1/responses/${this.taskId.replace('task_', 'resp_')}`;
  }

  private expected(answer: Answer | null, kill: KillSwitch, statuses: number[]): answer is Answer {
    if (answer?.whole && statuses.includes(answer.status)) return true;
    if (kill.alive) this.fault('B5', `a live service answered ${answer?.status ?? 'nothing'} to a reader`);
    return false;
  }

  private fault(rule: string, what: string): void {
    this.observations.fault(this.taskId, rule, what);
  }
}
