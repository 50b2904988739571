import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../../support/random.js';
import type { Answer } from './connection.js';
import { FrameReader } from './event-frames.js';
import { Follower, WAYS, type Meeting } from './follower.js';
import { JOBS, type Job } from './jobs.js';
import type { Observations, ObservedCreate, ObservedTry } from './observations.js';

export interface LoadOptions {
  model: string;
  /** Restart policies that the service takes. */
  policies: readonly string[];
  /** The service knows Idempotency-Key: a create whose answer was lost is sent again. */
  idempotency: boolean;
}

const CLIENTS = 6;
/** Tasks that have not ended, at most: more would only wait. */
const MOST_OPEN = 16;
const LONGEST_PAUSE_MS = 80;
const LATEST_CANCEL_MS = 400;
const LATEST_CANCEL_EVENT = 80;

const CANCELLED = 0.25;
const KEYED = 0.3;
/** Creates that leave the policy to the service. */
const UNSAID = 0.15;

interface CreateBody {
  metadata: { label: string };
  [field: string]: unknown;
}

/** Clients of all kinds on a service that will be killed: everything they are told is kept. */
export class Load {
  /** Creates that were refused since the model had lost too many processes in a row (WIRE B6). */
  quarantined = 0;
  /** Unfinished tasks that somebody follows. */
  private followers: Follower[] = [];
  /** Creates with a key whose answer was lost. */
  private unanswered: { create: ObservedCreate; body: CreateBody }[] = [];
  private created = 0;
  private open = 0;

  constructor(
    private readonly random: Random,
    private readonly observations: Observations,
    private readonly options: LoadOptions,
  ) {}

  /** Ids of followed tasks that have not ended as far as clients know. */
  get running(): string[] {
    return this.followers.filter(({ done }) => !done).map(({ taskId }) => taskId);
  }

  /** Clients work until the service is dead. `open`: tasks that it had to go on with. */
  async run(meeting: Meeting, open: number): Promise<void> {
    this.open = open;
    const clients = Array.from({ length: CLIENTS }, () => this.client(meeting));
    await Promise.all([...clients, this.takeUp(meeting)]);
    this.followers = this.followers.filter(({ done }) => !done);
  }

  /** What former processes left: streams go on behind their cursor, lost answers are asked for again. */
  async takeUp(meeting: Meeting): Promise<void> {
    const lost = this.unanswered.splice(0);
    await Promise.all([
      ...this.followers.map((follower) => this.follow(meeting, follower)),
      ...lost.map(({ create, body }) => this.accept(meeting, create, body)),
    ]);
  }

  private async client(meeting: Meeting): Promise<void> {
    const { random } = this;
    while (meeting.kill.alive) {
      await delay(random.between(0, LONGEST_PAUSE_MS));
      if (this.open >= MOST_OPEN || !meeting.kill.alive) continue;
      this.open += 1;
      await this.create(meeting);
    }
  }

  private async create(meeting: Meeting): Promise<void> {
    const { random } = this;
    const kind = random.weighted({ background: 6, 'background-stream': 2, foreground: 1, 'foreground-stream': 1 });
    const background = kind.startsWith('background');
    const streamed = kind.endsWith('stream');
    const job = this.job();
    const onRestart = background && !random.chance(UNSAID) ? random.pick(this.options.policies) : null;
    const label = `${job.name}#${this.created++}`;
    const keyed = this.options.idempotency && background && !streamed && random.chance(KEYED);
    const key = keyed ? `key-${label}` : null;
    const body: CreateBody = { model: this.options.model, ...job.request, metadata: { label } };
    if (background) body['background'] = true;
    if (streamed) body['stream'] = true;
    if (onRestart !== null) body['on_restart'] = onRestart;
    const create: ObservedCreate = { label, background, streamed, onRestart, key, tries: [] };
    this.observations.creates.set(label, create);
    if (streamed) await this.stream(meeting, create, body);
    else if (background) await this.accept(meeting, create, body);
    else await this.wait(meeting, create, body);
  }

  private job(): Job {
    const name = this.random.weighted(Object.fromEntries(JOBS.map((job) => [job.name, job.weight])));
    return JOBS.find((job) => job.name === name) ?? JOBS[0]!;
  }

  /** In the background: followed afterwards in one way or another. */
  private async accept(meeting: Meeting, create: ObservedCreate, body: CreateBody): Promise<void> {
    const { taskId, status } = await this.send(meeting, create, body);
    if (status === null && create.key !== null) this.unanswered.push({ create, body });
    if (taskId === null) return;
    const follower = new Follower(taskId, this.random.pick(WAYS), this.observations);
    this.followers.push(follower);
    await this.follow(meeting, follower);
    if (follower.done) this.open -= 1;
  }

  private async stream(meeting: Meeting, create: ObservedCreate, body: CreateBody): Promise<void> {
    let follower: Follower | null = null;
    let cancel: Promise<void> = Promise.resolve();
    const frames = new FrameReader((frame) => follower?.frame(frame, meeting.kill));
    await this.send(meeting, create, body, {
      onTask: (taskId) => {
        follower = new Follower(taskId, this.random.pick(['task-events', 'response-stream']), this.observations);
        if (create.background) this.followers.push(follower);
        cancel = this.perhapsCancel(meeting, follower);
      },
      onText: (text) => frames.push(text),
    });
    await cancel;
    this.open -= 1;
  }

  private async wait(meeting: Meeting, create: ObservedCreate, body: CreateBody): Promise<void> {
    await this.send(meeting, create, body);
    this.open -= 1;
  }

  private async send(
    meeting: Meeting,
    create: ObservedCreate,
    body: CreateBody,
    { onTask, onText }: { onTask?: (taskId: string) => void; onText?: (text: string) => void } = {},
  ): Promise<ObservedTry> {
    const { connection, kill } = meeting;
    const seen: ObservedTry = { status: null, taskId: null, replayed: false, body: null };
    create.tries.push(seen);
    const answer = await connection.send('POST', '/v1/responses', {
      body,
      headers: create.key === null ? {} : { 'idempotency-key': create.key },
      onSent: () => kill.sent(),
      onHead: (status, headers) => {
        // What comes first: nobody can say later that it was not seen.
        seen.status = status;
        seen.replayed = headers['idempotent-replayed'] === 'true';
        const taskId = headers['lmsp-task-id'];
        if (typeof taskId === 'string') {
          seen.taskId = taskId;
          this.observations.of(taskId);
          onTask?.(taskId);
        }
        kill.head(status);
      },
      ...(onText && { onText }),
    });
    if (answer?.whole && !onText) seen.body = answer.body;
    await this.judge(create, answer, meeting);
    return seen;
  }

  /** A foreground task may fail with its runner, and a model is given up that lost too many: nothing else is refused. */
  private async judge(
    { label, background, streamed }: ObservedCreate,
    answer: Answer | null,
    meeting: Meeting,
  ): Promise<void> {
    const status = answer?.status ?? null;
    const fine = background && !streamed ? status === 202 : status === 200 || (!background && status === 500);
    if (fine || (!meeting.kill.alive && status === null)) return;
    if (status === 503 && answer?.body.includes('model_unavailable')) {
      this.quarantined += 1;
      await meeting.connection.send('POST', '/v1/models/load', { body: { model: this.options.model } });
    } else this.observations.fault(label, 'B3', `a create was answered ${status}: ${answer?.body}`);
  }

  private async follow(meeting: Meeting, follower: Follower): Promise<void> {
    await Promise.all([follower.follow(meeting), this.perhapsCancel(meeting, follower)]);
  }

  /** At once, after a time, or in the middle of the output. */
  private async perhapsCancel(meeting: Meeting, follower: Follower): Promise<void> {
    const { random } = this;
    if (!random.chance(CANCELLED)) return;
    const events = random.pick([0, random.between(5, LATEST_CANCEL_EVENT)]);
    const end = performance.now() + random.between(0, events === 0 ? LATEST_CANCEL_MS : LATEST_CANCEL_MS * 10);
    while (meeting.kill.alive && performance.now() < end && (events === 0 || follower.last < events)) await delay(2);
    if (meeting.kill.alive) await this.cancel(meeting, follower.taskId);
  }

  /** By either route. Resolves with what the answer said of the task. */
  async cancel({ connection, kill }: Meeting, taskId: string): Promise<string | null> {
    const seen: { status: number | null; outcome: string | null } = { status: null, outcome: null };
    this.observations.of(taskId).cancels.push(seen);
    const asTask = this.random.chance(0.5);
    const path = asTask ? `/v1/tasks/${taskId}` : `/v1/responses/${taskId.replace('task_', 'resp_')}`;
    const answer = await connection.send('POST', `${path}/cancel`, {
      onHead: (status) => {
        seen.status = status;
      },
    });
    if (answer?.whole !== true) return null;
    const body = JSON.parse(answer.body) as {
      status?: string;
      lmsp?: { task_status: string };
      error?: { code: string } | null;
    };
    seen.outcome = answer.status === 200 ? (body.lmsp?.task_status ?? body.status ?? null) : (body.error?.code ?? null);
    if (answer.status !== 200 && answer.status !== 400 && kill.alive)
      this.observations.fault(taskId, 'R3', `a cancel was answered ${answer.status}: ${answer.body}`);
    return seen.outcome;
  }
}
