import { setImmediate as nextTurn } from 'node:timers/promises';
import { DomainError } from '../../src/errors/index.js';
import { taskIdOf } from '../../src/responses/response-store.js';
import { isTerminal, isTerminalEvent } from '../../src/tasks/task-transitions.js';
import type { StoredEvent } from '../../src/tasks/task-log.js';
import { BROKEN, type Piece } from './fake-engine.js';
import { ProgressPoints } from './progress-points.js';
import { Random } from './random.js';
import { ResponseLab } from './response-lab.js';
import type { StoredResponseRow, StoredTask } from './store-image.js';
import { storedFaults } from './stored-logs.js';

const GIVE_UP_MS = 20_000;
/** Lives at the same time, and rows of the model for them: some have to wait. */
const WIDTH = 24;
const ROWS = 20;
const MOST_TOKENS = 12;

const KINDS = ['created', 'token', 'event'] as const;
type Kind = (typeof KINDS)[number];

/** When a cancel comes: at the nth happening of a kind, and so many moments later. */
interface CancelPlan {
  route: 'task' | 'response';
  kind: Kind;
  count: number;
  moments: number;
}

/** One life of a response, and what comes in between. Everything is drawn before it begins. */
interface RoundPlan {
  tokens: number;
  end: 'stop' | 'limit' | 'broken';
  promptTokens: number;
  reads: boolean;
  cancels: CancelPlan[];
}

interface Reply {
  route: string;
  /** Status of the task as answered; `refused`: the task had ended otherwise. */
  outcome: string;
  /** Last event on disk when it was answered. */
  last: number;
  /** Tokens the model had given when it was answered. */
  tokens: number;
}

interface Round {
  responseId: string;
  taskId: string;
  plan: RoundPlan;
  points: ProgressPoints<Kind>;
}

/**
 * Cancels against the whole life of responses (CASES BL-04, R3): the real lifecycle, journal, runner and engine
 * supervisor on a real store; only the model is a double. `run` answers with what was wrong; nothing is right.
 */
export class CancelRace {
  /** How often each came to be, e.g. `found running`, `ended completed`. */
  readonly seen = new Map<string, number>();
  private readonly random: Random;
  private readonly rounds = new Map<string, Round>();
  private lab!: ResponseLab;
  private passing: Promise<void> | null = null;

  private constructor(seed: number) {
    this.random = new Random(seed);
  }

  /** `cancelWaitMs`: how long the answer of a cancel waits for the end of the run. */
  static async open(seed: number, cancelWaitMs: number): Promise<CancelRace> {
    const race = new CancelRace(seed);
    const env = { LMSP_CANCEL_WAIT_MS: String(cancelWaitMs) };
    const tokens = ({ id }: { id: string }) => race.script(id);
    const pause = (): Promise<void> => race.moments(race.random.between(1, 3));
    race.lab = await ResponseLab.open({ tokens, pause, vocabularySize: 16, rows: ROWS }, env);
    race.lab.models.loading = () => race.loading();
    await race.lab.tasks.runner.start();
    return race;
  }

  async run(rounds: number): Promise<string[]> {
    const violations: string[] = [];
    let next = 0;
    const lane = async (): Promise<void> => {
      while (next < rounds) {
        next += 1;
        violations.push(...(await this.round(this.plan())));
      }
    };
    await Promise.all(Array.from({ length: WIDTH }, lane));
    await this.lab.tasks.runner.idle();
    if (this.lab.models.taken > 0) violations.push(`${this.lab.models.taken} seats are still taken`);
    return violations;
  }

  close(): Promise<void> {
    return this.lab.close();
  }

  private plan(): RoundPlan {
    const { random } = this;
    const cancel = (): CancelPlan => ({
      route: random.pick<CancelPlan['route']>(['task', 'response']),
      kind: random.pick(KINDS),
      count: Math.floor(random.next() ** 2 * 1.4 * MOST_TOKENS),
      moments: Math.floor(random.next() ** 2 * 12),
    });
    const first = cancel();
    const again: CancelPlan = { ...first, route: random.pick(['task', 'response']) };
    const second = random.pick<CancelPlan[]>([[], [], [cancel()], [again]]);
    return {
      tokens: random.between(0, MOST_TOKENS),
      end: random.pick(['stop', 'stop', 'limit', 'broken']),
      promptTokens: 1 + Math.floor(random.next() ** 3 * 800),
      reads: random.chance(0.6),
      cancels: [first, ...second],
    };
  }

  private *script(generation: string): Generator<Piece> {
    const round = this.rounds.get(generation.split('.')[0] ?? '');
    if (!round) throw new Error(`an unknown generation ${generation}`);
    const { tokens, end } = round.plan;
    for (let i = 0; i < tokens || end === 'limit'; i += 1) {
      round.points.advance('token');
      yield `word${i % 7} `;
    }
    if (end === 'broken') yield BROKEN;
  }

  /** One claim in four has to wait for its model, and one of those in vain. */
  private loading(): Promise<void> | null {
    if (!this.random.chance(0.25)) return null;
    const fails = this.random.chance(0.25);
    return this.moments(this.random.between(1, 20)).then(() => {
      if (fails) throw new DomainError('model_load_failed', 'the model cannot be loaded');
    });
  }

  private async round(plan: RoundPlan): Promise<string[]> {
    const responseId = await this.lab.create({
      generation: {
        promptIds: Array.from({ length: plan.promptTokens }, () => 1),
        maxOutputTokens: plan.end === 'limit' ? plan.tokens + 1 : 1000,
      },
    });
    const round: Round = { responseId, taskId: taskIdOf(responseId), plan, points: new ProgressPoints() };
    this.rounds.set(round.taskId, round);
    const reading = plan.reads ? this.read(round) : null;
    round.points.advance('created');
    const cancels = plan.cancels.map((cancel) => this.cancel(round, cancel));
    this.lab.tasks.runner.wake('response', 'fake');
    await this.lab.tasks.stream.ended(round.taskId, AbortSignal.timeout(GIVE_UP_MS));
    round.points.end();
    const violations = await this.judge(round, await Promise.all(cancels), await reading);
    return violations.map((violation) => `${round.taskId} (${JSON.stringify(plan)}): ${violation}`);
  }

  /** What the reader saw until its stream ended by itself; null when it did not. */
  private async read({ taskId, points }: Round): Promise<StoredEvent[] | null> {
    const limit = AbortSignal.timeout(GIVE_UP_MS);
    const seen: StoredEvent[] = [];
    const log = await this.lab.tasks.stream.open(taskId, -1);
    for await (const event of log.events(limit)) {
      seen.push(event);
      points.advance('event');
    }
    return limit.aborted ? null : seen;
  }

  private async cancel(round: Round, plan: CancelPlan): Promise<Reply> {
    await round.points.reach(plan.kind, plan.kind === 'created' ? 1 : plan.count);
    await this.moments(plan.moments);
    const outcome = await this.send(round, plan.route);
    const tokens = round.points.of('token');
    const { lastSequenceNumber } = await this.lab.tasks.task(round.taskId);
    this.note(`answer ${outcome}`);
    return { route: plan.route, outcome, last: lastSequenceNumber, tokens };
  }

  private async send({ taskId, responseId }: Round, route: CancelPlan['route']): Promise<string> {
    try {
      if (route === 'task') return (await this.lab.tasks.cancellation.cancel(taskId)).status;
      return (await this.lab.responses.cancel(responseId, 'cli_test')).lmsp.task_status;
    } catch (error) {
      const { code } = error as { code?: string };
      if (code === `${route}_not_cancellable`) return 'refused';
      throw error;
    }
  }

  private async judge(round: Round, replies: Reply[], read: StoredEvent[] | null): Promise<string[]> {
    const stored = await this.stored(round);
    const { task, events } = stored;
    const violations = storedFaults(stored).map(({ rule, what }) => `${what} (${rule})`);
    if (!isTerminal(task.status)) violations.push('the task has not ended');
    this.note(`ended ${task.status}`);
    const asked = events.findIndex(({ payload }) => statusIn(payload) === 'cancelling');
    if (asked >= 0 && events[asked + 1]?.type !== 'response.cancelled')
      violations.push(`${events[asked + 1]?.type ?? 'nothing'} follows the accepted cancel`);
    if (task.status === 'cancelled') this.note(`found ${foundBy(events)}`);
    for (const reply of replies) {
      const accepted = ['cancelled', 'cancelling'].includes(reply.outcome);
      if (accepted !== (task.status === 'cancelled'))
        violations.push(`the ${reply.route} route answered ${reply.outcome}, the task is ${task.status}`);
      if (accepted && task.lastSequenceNumber > reply.last + (reply.outcome === 'cancelling' ? 1 : 0))
        violations.push('an event other than the end follows an answered cancel');
      if (reply.outcome === 'cancelled' && round.points.of('token') !== reply.tokens)
        violations.push('the model worked after the cancel was answered');
    }
    if (round.plan.reads && !read) violations.push("the reader's stream did not end by itself");
    if (read && JSON.stringify(read) !== JSON.stringify(events)) violations.push('the reader saw another log');
    return violations;
  }

  private async stored({ taskId, responseId }: Round): Promise<StoredTask> {
    const [response] = await this.lab.tasks.store.reader.query<StoredResponseRow>(
      `select id, status, body, body_sequence_number as bodySequenceNumber, finished_at as finishedAt
       from responses where id = ?`,
      [responseId],
    );
    return { ...(await this.lab.tasks.found(taskId)), response: response ?? null, snapshots: [], keys: [] };
  }

  /** A moment: a turn of the event loop, or as long as the writes that wait for the store now. */
  private async moments(count: number): Promise<void> {
    for (let i = 0; i < count; i += 1) {
      if (this.random.chance(0.6)) await nextTurn();
      else await this.writes();
    }
  }

  private writes(): Promise<void> {
    this.passing ??= this.lab.tasks.write(() => Promise.resolve()).finally(() => (this.passing = null));
    return this.passing;
  }

  private note(what: string): void {
    this.seen.set(what, (this.seen.get(what) ?? 0) + 1);
  }
}

function statusIn(payload: string): string | null {
  const { response } = JSON.parse(payload) as { response?: { lmsp: { task_status: string } } };
  return response?.lmsp.task_status ?? null;
}

/** The status that the accepted cancel found. */
function foundBy(events: StoredEvent[]): string | null {
  const before = events.filter(({ type, payload }) => !isTerminalEvent(type) && statusIn(payload) !== 'cancelling');
  return before.flatMap(({ payload }) => statusIn(payload) ?? []).at(-1) ?? null;
}
